"""How the roles stand: what waits, what is due, what was learned, who reflects now. Source: screens 4 (/roles/)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.db import connection
from django.db.models import Subquery

from memory_app.roles.core import Trigger
from memory_app.roles.core.declarations import MemoryRole
from memory_app.roles.due import is_due
from memory_app.roles.models import RoleMemory, RoleMemoryQuerySet, RoleState
from memory_app.roles.registry import DeclaredRole, registry
from minara_site.access.models import User
from minara_site.kernel.counts import CountOf, RowCount
from minara_site.kernel.jobs.leases import is_dead
from minara_site.kernel.jobs.models import Lease
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.web.lists import total_label
from minara_site.web.market_labels import DAY_HOURS

LOCK = "role:"
STRETCHES = 6  # between the least and the greatest age
MAX_UNDECLARED = 50
ROLE_IDS = """
    WITH RECURSIVE found (role_id) AS (
        SELECT MIN(role_id) FROM role_memory WHERE {own}
        UNION ALL
        SELECT (SELECT MIN(role_id) FROM role_memory WHERE role_id > found.role_id AND {own})
        FROM found WHERE found.role_id IS NOT NULL
    ) SELECT role_id FROM found WHERE role_id IS NOT NULL
"""  # from one to the next in the index: DISTINCT reads every entry


@dataclass(frozen=True, slots=True)
class RoleStatus:
    """How a role stands for a reader. `declared` is None once no skill declares it; `lease` while it reflects."""

    role_id: str
    declared: DeclaredRole | None
    pending: RowCount
    due: RowCount
    lessons: RowCount
    state: RoleState | None
    lease: Lease | None

    @property
    def pending_label(self) -> str:
        """Return how many entries wait."""
        return total_label(self.pending)

    @property
    def due_label(self) -> str:
        """Return how many entries can be judged now."""
        return total_label(self.due)

    @property
    def lesson_label(self) -> str:
        """Return how many lessons agents may read."""
        return total_label(self.lessons)


@dataclass(frozen=True, slots=True)
class Ages:
    """A stretch of ages in hours and how many entries are that old; `until` is None for everything older."""

    since: float
    until: float | None
    entries: RowCount
    may_be_judged: bool


def entries_of(owner: Owner, role_id: str) -> RoleMemoryQuerySet:
    """Return the entries of a role."""
    return RoleMemory.objects.for_owner(owner).filter(role_id=role_id)


def load_statuses(owner: Owner, now: datetime) -> list[RoleStatus]:
    """Return how every role stands, those that are no longer declared last. Three queries."""
    declared = {each.id: each for each in registry().all()}
    undeclared = [role_id for role_id in list_role_ids(owner) if role_id not in declared][:MAX_UNDECLARED]
    return read_statuses(
        [*declared.items(), *((role_id, None) for role_id in undeclared)],
        owner,
        now,
    )


def list_role_ids(owner: Owner) -> list[str]:
    """Return the roles that have entries, in their order."""
    own, values = ("1 = 1", []) if owner is EVERYONE else ("owner_id = %s", [owner.pk, owner.pk])
    with connection.cursor() as cursor:
        cursor.execute(ROLE_IDS.format(own=own), values)
        return [role_id for (role_id,) in cursor.fetchall()]


def read_statuses(
    roles: Sequence[tuple[str, DeclaredRole | None]],
    owner: Owner,
    now: datetime,
) -> list[RoleStatus]:
    """Return how these roles stand, in their order. Two queries."""
    if not roles:
        return []
    ids = [role_id for role_id, _declared in roles]
    states = RoleState.objects.in_bulk(ids)
    columns: dict[str, Any] = {}
    for place, (role_id, declared) in enumerate(roles):
        entries, held = entries_of(owner, role_id), Lease.objects.filter(pk=LOCK + role_id, expires_at__gt=now)
        columns |= {
            f"holder_{place}": Subquery(held.values("holder")),
            f"until_{place}": Subquery(held.values("expires_at")),
        }
        columns |= {
            f"pending_{place}": CountOf(entries.pending()),
            f"lessons_{place}": CountOf(entries.with_lesson()),
        }
        columns[f"due_{place}"] = CountOf(
            entries.pending().filter(is_due(declared, trigger=Trigger.MANUAL, now=now)) if declared else entries.none()
        )
    row = User.objects.values(**columns)[:1].get()  # any row serves: the counts do not depend on it
    return [
        RoleStatus(
            role_id,
            declared,
            RowCount.of(row[f"pending_{place}"]),
            RowCount.of(row[f"due_{place}"] or 0),
            RowCount.of(row[f"lessons_{place}"]),
            states.get(role_id),
            lease_of(role_id, row[f"holder_{place}"], row[f"until_{place}"]),
        )
        for place, (role_id, declared) in enumerate(roles)
    ]


def lease_of(role_id: str, holder: str | None, until: datetime | None) -> Lease | None:
    """Return the lock of a role as it was read beside the counts; None while it is free."""
    if not holder or not until or is_dead(holder):
        return None
    return Lease(name=LOCK + role_id, holder=holder, expires_at=until)


def load_ages(role: MemoryRole, owner: Owner, now: datetime) -> list[Ages]:
    """Return how old the pending entries of a role are, in even stretches between its least and greatest age.

    Long stretches begin at whole days.
    """
    policy = role.reflection_policy
    step = (policy.max_age_hours - policy.min_age_hours) / STRETCHES
    inner = [policy.min_age_hours + step * number for number in range(1, STRETCHES)]
    if step >= 2 * DAY_HOURS:
        inner = [round(edge / DAY_HOURS) * DAY_HOURS for edge in inner]
    edges = [policy.min_age_hours, *inner, policy.max_age_hours]
    stretches: list[tuple[float, float | None]] = [(0, edges[0])] if edges[0] > 0 else []
    stretches += [*pairwise(edges), (edges[-1], None)]
    pending = entries_of(owner, role.id).pending()
    columns = {f"ages_{place}": CountOf(aged(pending, each, now)) for place, each in enumerate(stretches)}
    row = User.objects.values(**columns)[:1].get()
    return [
        Ages(
            since,
            until,
            RowCount.of(row[f"ages_{place}"]),
            may_be_judged=until is not None and since >= edges[0],
        )
        for place, (since, until) in enumerate(stretches)
    ]


def aged(
    pending: RoleMemoryQuerySet,
    stretch: tuple[float, float | None],
    now: datetime,
) -> RoleMemoryQuerySet:
    """Keep what was decided this long ago."""
    since, until = stretch
    old = pending.filter(decided_at__lte=now - timedelta(hours=since)) if since else pending
    return old if until is None else old.filter(decided_at__gt=now - timedelta(hours=until))
