"""Which entries of a role wait, and which of them a sweep looks at now. Source: S0 (min and max age, triggers)."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import F, Q

from memory_app.roles.core import SkipReason, Trigger
from memory_app.roles.core.declarations import DeclaredRole, Manual, PriceDelta, ReflectionPolicy
from memory_app.roles.core.schedule import skipped_before
from memory_app.roles.models import RoleMemory, RoleMemoryQuerySet
from minara_site.kernel.market.outcome import SETTLES_AFTER


def ready_at(entry: RoleMemory, policy: ReflectionPolicy) -> datetime:
    """Return from when on an entry is judged: once it is old enough, and the prices of its window are there."""
    old_enough, probe = entry.decided_at + timedelta(hours=policy.min_age_hours), policy.outcome_probe
    if not isinstance(probe, PriceDelta):
        return old_enough
    return max(old_enough, entry.window_starts_at + timedelta(hours=probe.window_hours) + SETTLES_AFTER)


def waiting_of(role_id: str, owner_id: int | None = None) -> RoleMemoryQuerySet:
    """Return a role's entries that wait, of all owners or of one."""
    rows: RoleMemoryQuerySet = RoleMemory.objects.filter(role_id=role_id).pending()
    return rows if owner_id is None else rows.filter(owner=owner_id)


def due_of(
    declared: DeclaredRole,
    *,
    trigger: Trigger,
    owner_id: int | None = None,
    now: datetime,
) -> RoleMemoryQuerySet:
    """Return what this trigger has looked at: old enough, not too old, and not put off."""
    return waiting_of(declared.id, owner_id).filter(is_due(declared, trigger=trigger, now=now))


def is_due(declared: DeclaredRole, *, trigger: Trigger, now: datetime) -> Q:
    """Return the condition for a role's waiting entries.

    What waits only for a price is looked at when prices came; somebody who asks by hand has everything looked at. Of
    a manual role only what somebody marked counts.
    """
    policy = declared.policy
    old_enough = now - timedelta(hours=policy.min_age_hours)
    due = Q(decided_at__lte=old_enough, decided_at__gte=skipped_before(policy, now))
    if isinstance(policy.outcome_probe, Manual):
        due &= Q(outcome__isnull=False)
    if trigger is Trigger.MANUAL:
        return due
    may_be_tried = Q(next_try_at__isnull=True) | Q(next_try_at__lte=now)
    if trigger is Trigger.ON_PRICE_FETCH:
        may_be_tried |= Q(last_error=SkipReason.NO_PRICE)
    return due & may_be_tried


def too_old_of(
    declared: DeclaredRole,
    *,
    owner_id: int | None = None,
    now: datetime,
) -> RoleMemoryQuerySet:
    """Return what waits and will never be judged; what a person just marked will be."""
    old = waiting_of(declared.id, owner_id).filter(decided_at__lt=skipped_before(declared.policy, now))
    return old.filter(mark_effective_at__isnull=True)


def roles_with_due(
    roles: Collection[DeclaredRole],
    *,
    trigger: Trigger,
    assets: Collection[str] | None,
    owner_id: int | None,
    now: datetime,
) -> set[str]:
    """Return those of the roles that have something due, on one of these assets and of this owner where one is given.

    A query for each, which an index answers: SQLite would go over all that waits for several in one.
    """
    found = set()
    for declared in roles:
        rows = due_of(declared, trigger=trigger, now=now)
        if assets is not None:
            rows = rows.filter(asset__in=assets)
        if owner_id is not None:
            rows = rows.alias(whose=F("owner_id") + 0).filter(whose=owner_id)  # and not by an index of the owner
        if rows.exists():
            found.add(declared.id)
    return found
