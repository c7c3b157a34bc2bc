"""Which lessons agents read: those that the prompt of the next session carries."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import DateTimeField

from learning_app.preferences.limits import Limit, is_forbidden, load_limits
from memory_app.roles.core.lessons import LessonRow, choose_lessons
from memory_app.roles.models import RoleMemory, guarded_decision, guarded_reflection
from memory_app.roles.registry import registry
from memory_app.roles.selectors import find_refused, recent_lessons
from minara_site.access.models import User
from minara_site.kernel.prepared import OWNER_ID, Parameter, Prepared

MAX_READ = 60  # the newest of all roles, of which a prompt carries at most twelve


def load_lesson_rows(*, owner: User, as_of: datetime, limits: Iterable[Limit]) -> tuple[LessonRow, ...]:
    """Return the lessons that a prompt carries: none whose outcome the market had not shown by then (S0).

    Nor what a limit forbids.
    """
    newest = newest_taught(tuple(each.id for each in registry().all())).ask(owner_id=owner.pk, as_of=as_of)
    rows: Sequence[TaughtRow | RoleMemory] = newest
    if find_refused(newest):
        rows = recent_lessons(
            owner_id=owner.pk,
            role_id=None,
            as_of=as_of,
            most=MAX_READ,
        )
    return choose_lessons(
        LessonRow(
            row.pk,
            row.role_id,
            row.lesson,
            row.outcome_at or as_of,
        )
        for row in rows
        if not is_forbidden(row.lesson, limits)
    )


class TaughtRow(NamedTuple):
    """An entry with a lesson, as a prompt and the guard need it."""

    pk: int
    role_id: str
    lesson: str
    outcome_at: datetime
    rules_version: str
    narrative: str
    decision: str
    inputs: Any

    @property
    def guarded_text(self) -> str:
        """What the guard judges of the decision."""
        return guarded_decision(self.decision, self.inputs)

    @property
    def guarded_lesson(self) -> str:
        """What the guard judges of the reflection."""
        return guarded_reflection(self.lesson, self.narrative)


@lru_cache(maxsize=8)
def newest_taught(roles: tuple[str, ...]) -> Prepared[TaughtRow]:
    """Return the query of the newest lessons of these roles that were known at `as_of`."""
    as_of = Parameter("as_of", DateTimeField())
    return Prepared(
        TaughtRow,
        lambda: [
            RoleMemory.objects.filter(
                owner_id=OWNER_ID,
                role_id__in=roles,
                outcome_at__lte=as_of,
            )
            .with_lesson()
            .order_by("-outcome_at", "-pk")
            .values_list(*TaughtRow._fields)[:MAX_READ]
        ],
    )


def find_read(owners: Collection[User], *, now: datetime) -> set[int]:
    """Return the entries whose lessons the next prompt of this owner carries. Two queries.

    Nothing where several owners stand together: each has a prompt of their own, and a list is no place to build them.
    """
    if len(owners) != 1:
        return set()
    [owner] = owners
    return {row.id for row in load_lesson_rows(owner=owner, as_of=now, limits=load_limits(owner.pk))}
