"""Which lessons agents read: those that the prompt of the next session carries."""

from collections.abc import Collection
from datetime import datetime

from memory_app.roles.core.lessons import LessonRow, choose_lessons
from memory_app.roles.selectors import recent_lessons
from minara_site.access.models import User
from minara_site.kernel.ownership import Owner

MAX_READ = 60  # the newest of all roles, of which a prompt carries at most twelve


def load_lesson_rows(*, owner: Owner, as_of: datetime) -> tuple[LessonRow, ...]:
    """Return the lessons that a prompt carries: none whose outcome the market had not shown by then (S0)."""
    assert isinstance(owner, User)  # a prompt is one person's
    newest = recent_lessons(owner_id=owner.pk, role_id=None, as_of=as_of, most=MAX_READ)
    return choose_lessons(LessonRow(row.pk, row.role_id, row.lesson, row.outcome_at or as_of) for row in newest)


def find_read(owners: Collection[User], *, now: datetime) -> set[int]:
    """Return the entries whose lessons the next prompt of this owner carries. One query.

    Nothing where several owners stand together: each has a prompt of their own, and a list is no place to build them.
    """
    if len(owners) != 1:
        return set()
    return {row.id for owner in owners for row in load_lesson_rows(owner=owner, as_of=now)}
