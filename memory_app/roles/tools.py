"""The tool `record_decision`: an agent records what it decided in one of its roles. Source: S0 (role memory entry)."""

from datetime import datetime
from typing import Annotated, Any

from django.utils import timezone
from pydantic import Field

from memory_app.roles.core import DECISION_KIND
from memory_app.roles.services.record import MAX_DECISION_CHARS, DecisionDraft, record_decision
from minara_site.access.principal import Principal
from minara_site.kernel.guard.selectors import find_held
from minara_site.web.schemas import Strict


class RecordDecisionArgs(Strict):
    """Arguments of record_decision."""

    role_id: Annotated[str, Field(max_length=120, description="A declared role, such as market.spot.momentum.")]
    inputs: Annotated[
        dict[str, Any],
        Field(
            description="What the decision was based on. A role that is judged by the price needs asset and direction "
            "(bullish, bearish or neutral). No secrets."
        ),
    ]
    decision: Annotated[
        str, Field(description=f"What was decided and why, 1 to {MAX_DECISION_CHARS} characters. No secrets.")
    ]
    decided_at: Annotated[datetime | None, Field(description="When it was decided, ISO 8601; leave out for now.")] = (
        None
    )


def record(principal: Principal, args: RecordDecisionArgs, *, reasoning: str) -> dict[str, Any]:
    """Record a decision of a role; its outcome and its lesson come later. `held` says that the guard holds it."""
    entry = record_decision(
        owner_id=principal.owner.pk,
        draft=DecisionDraft(args.role_id, args.inputs, args.decision, args.decided_at),
        actor=principal.actor,
        origin="tool:record_decision",
        is_replay=principal.is_operator,
        now=timezone.now(),
        reasoning=reasoning,
    )
    held = find_held(DECISION_KIND, entry.pk) if entry.held_at else None
    return {"id": entry.pk, "held": held} if held else {"id": entry.pk}
