"""What the worker does for access: sessions that have expired leave the database, with what they held."""

from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef


def clear_expired_sessions(*, now: datetime) -> dict[str, int]:
    """Delete the browser sessions that nobody can use any more; running it again deletes nothing more."""
    deleted, _kinds = Session.objects.filter(expire_date__lt=now).delete()
    stored = Session.objects.filter(pk=OuterRef("session_key"))
    UserSession.objects.exclude(Exists(stored)).delete()
    return {"deleted": deleted}
