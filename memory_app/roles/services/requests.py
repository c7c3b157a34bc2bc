"""Somebody asks for a reflection by hand, and first what it would cost. Source: S0 (/reflect)."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from memory_app.roles.core import Classification, Trigger
from memory_app.roles.core.declarations import DeclaredRole
from memory_app.roles.due import due_of
from memory_app.roles.models import RoleMemory
from memory_app.roles.services import stages
from memory_app.roles.services.reflect import get_role
from memory_app.roles.services.triggers import REFLECT
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import request_run
from minara_site.kernel.limits.model_actions import count_model_action
from minara_site.kernel.llm.gateway import UnknownModelPrice, worst_cost
from minara_site.kernel.llm.models import LlmUsage
from minara_site.kernel.market.outcome import Outcome

NEWEST_CALLS = 20


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many entries a reflection would look at, and what that may cost if none of them was right.

    `cost_usd` is None when no price of the model is known; `is_measured` says that it comes from earlier calls.
    """

    due: int
    cost_usd: Decimal | None
    is_measured: bool


def request_reflection(
    *,
    role_id: str,
    owner_id: int | None,
    actor: str,
    now: datetime,
) -> JobRun:
    """Ask for a sweep over what is due of a role, of one owner or with None of all; return its run.

    Raises NotFound for a role that no skill declares, and Throttled. Call it outside a transaction.
    """
    declared = get_role(role_id)
    count_model_action(actor, now=now)
    arguments: dict[str, str | int] = {"role_id": declared.id, "trigger": Trigger.MANUAL.value}
    if owner_id is not None:
        arguments |= {"owner_id": owner_id}
    with transaction.atomic():
        run = request_run(REFLECT, arguments, now=now, requested_by=actor)
        details = {"role": declared.id, "run": run.pk}
        record_audit(
            now=now,
            actor=actor,
            tool_call="reflection_requested",
            owner_id=owner_id,
            details=details,
        )
    return run


def estimate_reflection(
    role_id: str,
    owner_id: int | None = None,
    *,
    now: datetime,
) -> Estimate:
    """Return what a reflection by hand would look at and may cost. Raises NotFound."""
    declared = get_role(role_id)
    due = due_of(declared, trigger=Trigger.MANUAL, owner_id=owner_id, now=now)
    waiting = due.count()
    if not waiting:
        return Estimate(0, Decimal(0), is_measured=True)
    tasks, means = (stages.STAGE_ONE, stages.STAGE_TWO), []
    for task in tasks:
        calls = LlmUsage.objects.filter(task=task).order_by("-pk")
        if costs := list(calls.values_list("cost_usd", flat=True)[:NEWEST_CALLS]):
            means.append(sum(costs, start=Decimal(0)) / len(costs))
    if len(means) == len(tasks):
        return Estimate(
            waiting,
            waiting * sum(means, start=Decimal(0)),
            is_measured=True,
        )
    entry: RoleMemory = due.select_related("owner").order_by("decided_at", "pk")[0]
    worst = worst_of(declared, entry, now=now)
    return Estimate(
        waiting,
        None if worst is None else waiting * worst,
        is_measured=False,
    )


def worst_of(
    declared: DeclaredRole,
    entry: RoleMemory,
    *,
    now: datetime,
) -> Decimal | None:
    """Return the most that both stages of an entry may cost without evidence, None when no price is known."""
    entry.outcome = entry.outcome or Outcome.WRONG
    case = stages.case_of(entry, declared, (), now=now)
    first = stages.stage_one_question(entry, case)
    second = stages.stage_two_question(
        entry,
        declared,
        case,
        Classification.LOGIC_ERROR,
        "",
    )
    try:
        return worst_cost(first) + worst_cost(second)
    except UnknownModelPrice:
        return None
