"""What people choose for themselves: name, language, zone, theme, density, shortcuts."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.plain_text import clean_text


def change_preferences(
    *,
    user: User,
    chosen: Mapping[str, Any],
    now: datetime,
    actor: str,
) -> None:
    """Keep what somebody chose, some or all of it; what they left as it was leaves no trace. Raises Invalid."""
    cleaned = dict(chosen)
    if "display_name" in cleaned:
        cleaned["display_name"] = clean_text(
            cleaned["display_name"],
            field="display_name",
            max_chars=80,
            min_chars=0,
        )
    stored = User.objects.values(*cleaned).get(pk=user.pk)
    changed = [name for name, value in cleaned.items() if value != stored[name]]
    if not changed:
        return
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(**cleaned)
        record_audit(
            now=now,
            actor=actor,
            tool_call="settings_changed",
            owner_id=user.pk,
            details={"fields": sorted(changed)},
        )
