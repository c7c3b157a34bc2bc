"""Writes of a person's own password."""

from datetime import datetime

from django.db import transaction

from minara_site.access.models import Invitation, User
from minara_site.access.security.sessions import end_other_sign_ins
from minara_site.kernel.audit_log.services import record_audit


def change_password(
    *,
    user: User,
    password: str,
    session_key: str,
    now: datetime,
    actor: str,
) -> None:
    """Set a checked password, end every other session, and close links by which another could be set."""
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        follow_new_password(
            user=user,
            session_key=session_key,
            now=now,
            actor=actor,
        )


def follow_new_password(
    *,
    user: User,
    session_key: str,
    now: datetime,
    actor: str,
) -> None:
    """Do what a new password asks for: close links, end the sessions under other keys, and write it down."""
    with transaction.atomic():
        Invitation.objects.filter(user=user, used_at=None).delete()
        record_audit(
            now=now,
            actor=actor,
            tool_call="password_changed",
            owner_id=user.pk,
        )
        end_other_sign_ins(
            user=user,
            session_key=session_key,
            now=now,
            actor=actor,
        )
