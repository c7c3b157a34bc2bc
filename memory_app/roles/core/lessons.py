"""Which lessons a prompt carries. Source: S0 (lessons go back to the skill that owns the role). Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from memory_app.memories.core.fact_key import same_text

MAX_LESSONS = 12
MAX_LESSONS_OF_A_ROLE = 3


@dataclass(frozen=True, slots=True)
class LessonRow:
    """What a role learned of one of its decisions; `known_at` is when the market had answered it."""

    id: int
    role_id: str
    lesson: str
    known_at: datetime


def choose_lessons(newest: Iterable[LessonRow]) -> tuple[LessonRow, ...]:
    """Return the lessons of `## Lessons`: of each role the newest three, of all the newest twelve, newest first.

    A role that decides often leaves places to the others. Equal lessons stand once.
    """
    chosen: list[LessonRow] = []
    said = set[str]()
    for row in sorted(newest, key=attrgetter("known_at", "id"), reverse=True):
        text = same_text(row.lesson)
        if text not in said and sum(row.role_id == each.role_id for each in chosen) < MAX_LESSONS_OF_A_ROLE:
            chosen.append(row)
            said.add(text)
    return tuple(chosen[:MAX_LESSONS])
