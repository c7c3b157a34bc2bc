"""Outcome probes: what came of a decision, by the price, by a custom function, or by whoever marks it. Source: S0."""

from datetime import datetime

import structlog
from django.utils.translation import gettext as _

from memory_app.roles.core import SkipReason
from memory_app.roles.core.declarations import Custom, DeclaredRole, PriceDelta
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes.custom import CheckInputs, custom_probes, register_probe
from memory_app.roles.probes.price_delta import find_price_delta
from memory_app.roles.probes.result import ProbeFailed, ProbeResult

__all__ = ["CheckInputs", "ProbeFailed", "ProbeResult", "find_outcome", "register_probe"]

log = structlog.get_logger()


def find_outcome(
    entry: RoleMemory,
    declared: DeclaredRole,
    *,
    now: datetime,
) -> ProbeResult | SkipReason | None:
    """Ask the role's probe what came of a decision.

    None: not known yet; of a manual role always, because `mark_outcome` fills its columns. A SkipReason: it will
    never be known. Raises ProbeFailed when the probe raises; the entry then stays as it is.
    """
    probe = declared.role.reflection_policy.outcome_probe
    if isinstance(probe, PriceDelta):
        return find_price_delta(entry, probe, now=now)
    if not isinstance(probe, Custom):
        return None
    try:
        return custom_probes()[probe.probe_id].ask(entry, now)
    except Exception as error:
        kind = type(error).__name__
        log.warning(
            "role_probe_failed",
            probe=probe.probe_id,
            entry_id=entry.pk,
            error=kind,
        )
        raise ProbeFailed(_("The probe %(id)s failed: %(error)s") % {"id": probe.probe_id, "error": kind}) from error
