"""Which lessons agents really read: those that the prompt of the next session carries."""

from collections.abc import Collection
from datetime import datetime

from memory_app.snapshot.selectors import load_lesson_rows
from minara_site.access.models import User


def find_read(owners: Collection[User], *, now: datetime) -> set[int]:
    """Return the entries whose lessons the next prompt of this owner carries. One query.

    Nothing where several owners stand together: each has a prompt of their own, and a list is no place to build them.
    """
    if len(owners) != 1:
        return set()
    return {row.id for owner in owners for row in load_lesson_rows(owner=owner, as_of=now)}
