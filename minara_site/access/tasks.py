"""What the worker does for access: sessions that have expired leave the database, with what they held."""

from datetime import datetime

from django.contrib.sessions.models import Session

from minara_site.access.security.sessions import delete_traces


def clear_expired_sessions(*, now: datetime) -> dict[str, int]:
    """Delete the browser sessions that nobody can use any more; running it again deletes nothing more."""
    deleted, _kinds = Session.objects.filter(expire_date__lt=now).delete()
    delete_traces()
    return {"deleted": deleted}
