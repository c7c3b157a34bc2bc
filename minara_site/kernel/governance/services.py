"""Writes of governance: switching a capability, and keeping what it would have done."""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Any

import structlog
from django.db import transaction
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Invalid
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.models import CapabilitySwitch, ShadowDecision
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.table import Capability, load_capabilities

MAX_REASON_CHARS = 200

log = structlog.get_logger(__name__)


def switch(
    *,
    capability: Capability,
    mode: Mode,
    reason: str,
    actor: str,
    now: datetime,
) -> CapabilitySwitch:
    """Set how a capability stands. Raises Invalid without a reason, and for a shadow that it does not have.

    Raises LookupError for one that no app declares.
    """
    if load_capabilities().get(capability.name) is not capability:
        raise LookupError(f"No app declares the capability {capability.name}.")
    if mode is Mode.SHADOW and not capability.has_shadow:
        raise Invalid(_("This capability has no shadow: switch it on or off."), code="no_shadow")
    reason = checked_reason(reason)
    with transaction.atomic():
        before = mode_of(capability)
        fields = {
            "mode": mode,
            "reason": reason,
            "actor": actor,
            "changed_at": now,
        }
        row, _is_new = CapabilitySwitch.objects.update_or_create(capability=capability.name, defaults=fields)
        details = {
            "capability": capability.name,
            "before": before.value,
            "after": mode.value,
        }
        record_audit(
            now=now,
            actor=actor,
            tool_call="capability_switched",
            reasoning=reason,
            details=details,
        )
    log.info("capability_switched", capability=capability.name, mode=mode.value)
    return row


def checked_reason(reason: str) -> str:
    """Return why somebody changes something, trimmed. Raises Invalid when they do not say or say too much."""
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON_CHARS:
        sentence = _("Say why, in 1 to %(most)s characters.") % {"most": MAX_REASON_CHARS}
        raise Invalid(sentence, code="no_reason")
    return reason


def record_shadow(
    *,
    capability: Capability,
    subject: str,
    owner_id: int | None,
    decision: dict[str, Any],
    model: str,
    cost_usd: Decimal,
    now: datetime,
) -> None:
    """Keep what a capability would have done to a subject; a second decision on the same one is ignored."""
    row = ShadowDecision(
        capability=capability.name,
        subject=subject,
        owner_id=owner_id,
        decision=decision,
        model=model,
        cost_usd=cost_usd,
        at=now,
    )
    ShadowDecision.objects.bulk_create([row], ignore_conflicts=True)


def delete_shadows(subjects: Collection[str]) -> int:
    """Remove what was decided about subjects that are removed for good; return how many decisions that were."""
    return int(ShadowDecision.objects.filter(subject__in=subjects).delete()[0])
