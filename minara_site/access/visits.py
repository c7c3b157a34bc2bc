"""When somebody was here last, so that home can say what changed since. A visit begins with a sign-in."""

from typing import Any

from django.db.models import F
from django.utils import timezone

from minara_site.access.models import User


def note_visit(sender: Any, user: User, **kwargs: Any) -> None:
    """Make the last visit the previous one; receives Django's `user_logged_in`."""
    User.objects.filter(pk=user.pk).update(previous_visit_at=F("last_visit_at"), last_visit_at=timezone.now())
