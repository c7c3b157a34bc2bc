"""Reads of role memory: lists, one entry, the queue of outcomes to mark, lessons, and the shape of the contract."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from memory_app.roles.core import DECISION_KIND, LESSON_KIND, Classification, Status
from memory_app.roles.core.declarations import Manual
from memory_app.roles.models import RoleMemory, RoleMemoryQuerySet
from memory_app.roles.registry import registry
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.market.outcome import Outcome
from minara_site.kernel.ownership import Owner


def subject_of(entry_id: int) -> str:
    """Return how an entry is named in `llm_usage` and among the shadow decisions."""
    return f"role_memory:{entry_id}"


def get_entry(*, owner: Owner, entry_id: int, lock: bool = False) -> RoleMemory:
    """Return one entry, held or not. Raises NotFound also for another owner's."""
    rows = RoleMemory.objects.for_owner(owner).filter(pk=entry_id)
    return or_not_found(
        (rows.select_for_update(of=("self",)) if lock else rows).first(), _("There is no such decision.")
    )


def list_entries(
    *,
    owner: Owner,
    role_id: str | None = None,
    asset: str | None = None,
    status: Status | None = None,
    classification: Classification | None = None,
    outcome: Outcome | None = None,
    include_held: bool = False,
) -> RoleMemoryQuerySet:
    """Return the rows of a list, unordered; held ones only where their owner looks at them, never for agents."""
    rows: RoleMemoryQuerySet = RoleMemory.objects.for_owner(owner)
    wanted = {
        "role_id": role_id,
        "asset": asset,
        "status": status,
        "classification": classification,
        "outcome": outcome,
    }
    rows = rows.filter(**{name: value for name, value in wanted.items() if value is not None})
    return rows if include_held else rows.filter(held_at__isnull=True)


def list_manual_due(*, owner: Owner, now: datetime) -> RoleMemoryQuerySet:
    """Return the decisions of manual roles that are old enough and that nobody marked yet, unordered."""
    due = Q(pk__in=())
    for declared in registry().all():
        if isinstance(declared.policy.outcome_probe, Manual):
            ready = now - timedelta(hours=declared.policy.min_age_hours)
            due |= Q(role_id=declared.id, decided_at__lte=ready)
    rows: RoleMemoryQuerySet = RoleMemory.objects.for_owner(owner).pending().filter(due, outcome__isnull=True)
    return rows.filter(mark_effective_at__isnull=True)


def count_pending(*, owner: Owner) -> dict[str, int]:
    """Return by role how many of its decisions wait. One query."""
    rows = RoleMemory.objects.for_owner(owner).pending().values("role_id")
    return dict(rows.annotate(n=Count("pk")).values_list("role_id", "n"))


def list_lessons(
    *,
    owner: Owner,
    role_id: str | None,
    as_of: datetime | None,
) -> RoleMemoryQuerySet:
    """Return entries with a lesson whose outcome was known at `as_of`, unordered; held ones are left out.

    Without a role, those of every role that is declared (S0: others are no longer surfaced).
    """
    return taught(RoleMemory.objects.for_owner(owner), role_id=role_id, as_of=as_of)


def taught(
    rows: RoleMemoryQuerySet,
    *,
    role_id: str | None,
    as_of: datetime | None,
) -> RoleMemoryQuerySet:
    """Keep what taught something in this role, or in any that is declared, by a moment."""
    roles = [role_id] if role_id is not None else [each.id for each in registry().all()]
    found = rows.with_lesson().filter(role_id__in=roles)
    return found if as_of is None else found.filter(outcome_at__lte=as_of)


def recent_lessons(
    *,
    owner_id: int,
    role_id: str | None,
    as_of: datetime,
    most: int,
) -> list[RoleMemory]:
    """Return what a decision made at `as_of` may have learned, newest outcome first; what the guard refuses is out."""
    rows = taught(
        RoleMemory.objects.filter(owner=owner_id),
        role_id=role_id,
        as_of=as_of,
    )
    return newest_accepted(rows, "outcome_at", most)


def newest_reflected(owner_id: int, asset: str, most: int) -> list[RoleMemory]:
    """Return the newest reflected decisions of declared roles about an asset, without what is held or refused now."""
    roles = [each.id for each in registry().all()]
    rows = RoleMemory.objects.filter(
        owner=owner_id,
        asset=asset,
        role_id__in=roles,
        status=Status.REFLECTED,
    )
    rows = rows.filter(held_at__isnull=True, lesson_held_at__isnull=True)
    return newest_accepted(rows, "reflected_at", most)


def newest_accepted(
    rows: RoleMemoryQuerySet,
    column: str,
    most: int,
) -> list[RoleMemory]:
    """Return the newest of these by a column of times, without what today's rules refuse; one query unless some are."""
    accepted: list[RoleMemory] = []
    older = rows
    while len(accepted) < most:
        found = list(older.order_by(f"-{column}", "-pk")[:most])
        refused = find_refused(found)
        accepted += [entry for entry in found if entry.pk not in refused]
        if len(found) < most:
            break
        at = getattr(found[-1], column)
        older = rows.filter(Q(**{f"{column}__lt": at}) | Q(**{column: at}, pk__lt=found[-1].pk))
    return accepted[:most]


def find_refused(entries: Iterable[Any]) -> set[int]:
    """Return the ids of entries that today's rules refuse; no query while all verdicts are by those rules (P-04)."""
    stale = [entry for entry in entries if entry.rules_version != guard.RULES.version]
    decisions = judge_stored(DECISION_KIND, {entry.pk: entry.guarded_text for entry in stale})
    lessons = judge_stored(LESSON_KIND, {entry.pk: entry.guarded_lesson for entry in stale})
    return {pk for verdicts in (decisions, lessons) for pk, verdict in verdicts.items() if verdict.is_held}
