"""The shapes in which API and tools answer roles and their decisions. Source: the contract."""

from typing import Any

from memory_app.roles.core.declarations import (
    Custom,
    DeclaredRole,
    Manual,
    NewsSnapshot,
    OutcomeProbe,
    PostHocProbe,
    PriceDelta,
    RefetchSource,
)
from memory_app.roles.models import RoleMemory


def entry_record(
    entry: RoleMemory,
    symbol: dict[str, Any] | None,
    *,
    is_refused: bool = False,
) -> dict[str, Any]:
    """Return a decision as it is answered. One that is held, or that today's rules refuse, is there without its words.

    A held lesson takes its narrative with it. `symbol` is what its asset was read as.
    """
    record = {
        "id": entry.pk,
        "role_id": entry.role_id,
        "inputs": entry.inputs,
        "decision": entry.decision,
        "decided_at": entry.decided_at,
        "status": entry.status,
        "outcome": entry.outcome,
        "pnl_pct": entry.pnl_pct,
        "class": entry.classification,
        "narrative": entry.narrative or None,
        "lesson": entry.lesson or None,
        "reflected_at": entry.reflected_at,
        "asset": entry.asset or None,
        "asset_text": entry.asset_text or None,
        "symbol": symbol,
        "direction": entry.direction or None,
        "outcome_at": entry.outcome_at,
        "price_corrected": entry.price_corrected_at is not None,
        "skip_reason": entry.skip_reason or None,
        "backdated": entry.is_backdated,
        "held": is_refused or entry.held_at is not None,
        "lesson_held": entry.lesson_held_at is not None,
    }
    if record["held"]:
        record |= {"inputs": {}, "decision": ""}
    if record["held"] or record["lesson_held"]:
        record |= {"narrative": None, "lesson": None}
    return record


def role_record(declared: DeclaredRole, *, pending: int) -> dict[str, Any]:
    """Return a role as it is answered; `pending` is how many decisions of the owner wait."""
    policy = declared.policy
    return {
        "id": declared.id,
        "label": declared.role.label,
        "skill": {"id": declared.skill.id, "label": declared.skill.label},
        "failure_modes": list(declared.role.failure_modes),
        "policy": {
            "outcome_probe": probe_record(policy.outcome_probe),
            "min_age_hours": policy.min_age_hours,
            "max_age_hours": policy.max_age_hours,
            "triggers": list(policy.triggers),
            "cron_expr": policy.cron_expr or None,
            "post_hoc_probes": [post_hoc_record(each) for each in policy.post_hoc_probes],
        },
        "pending": pending,
    }


def probe_record(probe: OutcomeProbe) -> dict[str, Any]:
    """Return an outcome probe under the source's name of its kind."""
    match probe:
        case PriceDelta():
            return {
                "kind": "price_delta",
                "asset_field": probe.asset_field,
                "window_hours": probe.window_hours,
                "tolerance_hours": probe.tolerance_hours,
            }
        case Custom():
            return {"kind": "custom", "probe_id": probe.probe_id}
        case Manual():
            return {"kind": "manual"}


def post_hoc_record(probe: PostHocProbe) -> dict[str, Any]:
    """Return a post-hoc probe under the source's name of its kind."""
    match probe:
        case RefetchSource():
            return {
                "kind": "refetch_source",
                "tool": probe.tool,
                "param_mapper": probe.param_mapper or None,
            }
        case NewsSnapshot():
            return {"kind": "news_snapshot", "asset_field": probe.asset_field}
        case _:
            return {"kind": "onchain_snapshot", "asset_field": probe.asset_field}
