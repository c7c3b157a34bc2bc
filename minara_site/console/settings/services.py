"""Writes of a person's own password."""

from datetime import datetime

from django.db import transaction

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit


def change_password(*, user: User, password: str, now: datetime, actor: str) -> None:
    """Set a checked password. Every session that began with the old one ends at its next request."""
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        record_audit(now=now, actor=actor, tool_call="password_changed", owner_id=user.pk)
