"""The tool `record_decision`: an agent records what it decided in one of its roles. Source: S0 (role memory entry)."""

from typing import Any

from django.utils import timezone

from memory_app.roles.core import DECISION_KIND
from memory_app.roles.schemas import NewDecision
from memory_app.roles.services.record import DecisionDraft, record_decision
from minara_site.access.principal import Principal
from minara_site.kernel.guard.selectors import written_record
from minara_site.kernel.market.symbols import describe_asset


def record(
    principal: Principal,
    args: NewDecision,
    *,
    reasoning: str,
) -> dict[str, Any]:
    """Record a decision of a role; its outcome and its lesson come later. `held` says that the guard holds it.

    `repeated` says that an equal one of this key is there, `symbol` what its asset was read as.
    """
    now = timezone.now()
    entry, is_new = record_decision(
        owner_id=principal.owner.pk,
        draft=DecisionDraft(args.role_id, args.inputs, args.decision, args.decided_at),
        actor=principal.actor,
        origin="tool:record_decision",
        is_replay=principal.is_operator,
        now=now,
        reasoning=reasoning,
    )
    return written_record(DECISION_KIND, entry, is_new=is_new) | {"symbol": describe_asset(entry, now=now)}
