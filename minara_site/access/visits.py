"""When somebody was here last, so that home can say what changed since, and the trail of sign-ins."""

from typing import Any

from django.db.models import F
from django.utils import timezone

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit


def note_visit(sender: Any, user: User, **kwargs: Any) -> None:
    """Make the last visit the previous one; receives Django's `user_logged_in`."""
    User.objects.filter(pk=user.pk).update(previous_visit_at=F("last_visit_at"), last_visit_at=timezone.now())


def record_sign_in(sender: Any, user: User, **kwargs: Any) -> None:
    """Write down who came in; receives allauth's `user_logged_in`, which follows the last step."""
    record_audit(now=timezone.now(), actor=f"user:{user.pk}", tool_call="signed_in", owner_id=user.pk)
