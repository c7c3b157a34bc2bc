"""What makes a role reflect: its cron expression, a new decision, a recorded price. Source: S0 (triggers).

A trigger only notes on the role that a sweep is wanted, so that a burst of them asks for one; a job starts what is
wanted a moment later, and once a minute whatever was lost on the way. Two that start a role at once do no harm: the
second sweep drops.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memory_app.capabilities import ROLE_REFLECTION
from memory_app.roles.core import Status, Trigger
from memory_app.roles.core.declarations import DeclaredRole
from memory_app.roles.core.schedule import last_slot
from memory_app.roles.due import due_of, roles_with_due, too_old_of
from memory_app.roles.models import RoleMemory, RoleState
from memory_app.roles.registry import registry
from memory_app.roles.services.closing import skip_old
from minara_site.kernel.events import prices_recorded, role_memory_changed
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.jobs.services import request_run, request_run_later

REFLECT, START = "roles.reflect", "roles.start_due"
DEBOUNCE = timedelta(seconds=5)
MAX_LOOKED_AT = 500  # of the entries or symbols of one event
LOOKS_AT_LESS = {
    Trigger.ON_PRICE_FETCH: (Trigger.CRON, Trigger.ON_NEW_WRITE),
    Trigger.MANUAL: (Trigger.CRON, Trigger.ON_NEW_WRITE, Trigger.ON_PRICE_FETCH),
}


def listen() -> None:
    """Listen to what is recorded; called once a process."""
    role_memory_changed.connect(on_decisions, dispatch_uid="roles.on_new_write")
    prices_recorded.connect(on_prices, dispatch_uid="roles.on_price_fetch")


def on_decisions(entry_ids: Collection[int], **event: Any) -> None:
    """Receive `role_memory:changed`: a decision that waits makes its role look at everything that is due."""
    declared = declaring(Trigger.ON_NEW_WRITE)
    waiting = RoleMemory.objects.filter(
        pk__in=list(entry_ids)[:MAX_LOOKED_AT],
        role_id__in=declared,
        status=Status.PENDING,
    )
    found = set(waiting.order_by().values_list("role_id", flat=True)) if declared else set()
    request_due_sweeps([declared[role_id] for role_id in found], Trigger.ON_NEW_WRITE)


def on_prices(symbols: Collection[str], owner_id: int | None, **event: Any) -> None:
    """Receive `prices:recorded`: roles with something due on one of these assets look at it.

    An owner's price decides nothing for others, and starts nothing for them.
    """
    declared = list(declaring(Trigger.ON_PRICE_FETCH).values())
    request_due_sweeps(
        declared,
        Trigger.ON_PRICE_FETCH,
        symbols=symbols,
        owner_id=owner_id,
    )


def declaring(trigger: Trigger) -> dict[str, DeclaredRole]:
    """Return the roles that declare a trigger, by id."""
    return {each.id: each for each in registry().all() if trigger in each.policy.triggers}


def request_due_sweeps(
    roles: Collection[DeclaredRole],
    trigger: Trigger,
    *,
    symbols: Collection[str] | None = None,
    owner_id: int | None = None,
) -> None:
    """Note that those of the roles that have something due are to be swept."""
    now = timezone.now()
    assets = None if symbols is None else list(symbols)[:MAX_LOOKED_AT]
    found = roles_with_due(roles, trigger=trigger, assets=assets, owner_id=owner_id, now=now) if roles else set()
    for role_id in sorted(found):
        request_sweep(role_id, trigger)
    if found:
        request_run_later(
            START,
            not_before=now + DEBOUNCE,
            now=now,
            requested_by=f"event:{trigger.value}",
        )


def request_sweep(role_id: str, trigger: Trigger) -> None:
    """Note that a sweep of the role is requested, unless one is that looks at as much."""
    state, is_new = RoleState.objects.get_or_create(role_id=role_id, defaults={"wanted_by": trigger})
    less = ["", *LOOKS_AT_LESS.get(trigger, ())]
    if not is_new and state.wanted_by in less:
        RoleState.objects.filter(pk=role_id, wanted_by__in=less).update(wanted_by=trigger)


def widest_of(triggers: Collection[Trigger]) -> Trigger:
    """Return the one of some triggers whose sweep looks at the most; there is at least one."""
    return max(triggers, key=lambda trigger: len(LOOKS_AT_LESS.get(trigger, ())))


def start_due_roles(*, now: datetime) -> int:
    """Start a run for every role with a requested sweep or whose time has come; return how many."""
    if mode_of(ROLE_REFLECTION) is Mode.OFF:
        return 0
    states = RoleState.objects.in_bulk()
    started = 0
    for declared in registry().all():
        state = states.get(declared.id)
        started += start_requested(state, now=now) if state and state.wanted_by else 0
        if Trigger.CRON in declared.policy.triggers:
            started += start_by_cron(declared, state, now=now)
        elif mode_of(ROLE_REFLECTION) is Mode.ON:
            skip_old(declared, now=now)
    return started


def start_requested(state: RoleState, *, now: datetime) -> bool:
    """Start the run that a trigger requests, unless another process just did."""
    with transaction.atomic():
        wanted = RoleState.objects.filter(pk=state.role_id, wanted_by=state.wanted_by)
        if not wanted.update(wanted_by=""):
            return False
        start(state.role_id, Trigger(state.wanted_by), now=now)
    return True


def start_by_cron(
    declared: DeclaredRole,
    state: RoleState | None,
    *,
    now: datetime,
) -> bool:
    """Start a role's run once per moment of its cron expression; what was missed is made up for once."""
    slot = last_slot(declared.policy.cron_expr, now)
    if slot is None or (state and state.cron_slot_at and state.cron_slot_at >= slot):
        return False
    RoleState.objects.get_or_create(role_id=declared.id)
    earlier = Q(cron_slot_at__isnull=True) | Q(cron_slot_at__lt=slot)
    with transaction.atomic():
        is_ours = RoleState.objects.filter(earlier, pk=declared.id).update(cron_slot_at=slot)
        if not is_ours:
            return False
        due = due_of(declared, trigger=Trigger.CRON, now=now)
        if not (due.exists() or too_old_of(declared, now=now).exists()):
            return False
        start(declared.id, Trigger.CRON, now=now)
    return True


def start(role_id: str, trigger: Trigger, *, now: datetime) -> None:
    """Ask for the run in the caller's transaction."""
    arguments = {"role_id": role_id, "trigger": trigger.value}
    request_run(REFLECT, arguments, now=now, requested_by=f"role:{trigger.value}")
