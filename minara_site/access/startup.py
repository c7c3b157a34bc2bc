"""What access does once a process, after every app is loaded: from then on each sign-in and sign-out is recorded."""

from typing import Any

from allauth.account.signals import user_logged_in as came_in
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db.models import F
from django.utils import timezone

from minara_site.access.models import User
from minara_site.access.security.sessions import begin_session, delete_session
from minara_site.kernel.audit_log.services import record_audit


def start() -> None:
    """Record each sign-in as a visit, as a session and in the audit log, and each sign-out as the end of one."""
    user_logged_in.connect(note_visit, dispatch_uid="access.note_visit")
    came_in.connect(record_sign_in, dispatch_uid="access.record_sign_in")
    user_logged_in.connect(begin_session, dispatch_uid="access.begin_session")
    user_logged_out.connect(delete_session, dispatch_uid="access.forget_session")


def note_visit(sender: Any, user: User, **kwargs: Any) -> None:
    """Make the last visit the previous one, so that home can say what changed since."""
    User.objects.filter(pk=user.pk).update(previous_visit_at=F("last_visit_at"), last_visit_at=timezone.now())


def record_sign_in(sender: Any, user: User, **kwargs: Any) -> None:
    """Write down who came in; receives allauth's `user_logged_in`, which follows the last step."""
    record_audit(
        now=timezone.now(),
        actor=f"user:{user.pk}",
        tool_call="signed_in",
        owner_id=user.pk,
    )
