"""Decisions and lessons under guard: a new scan holds them, an operator releases or discards them. Trust P-02, P-04.

What is discarded stays held: its hold is decided, nobody reads it, and no later scan lets it in. A reflection is
written once (R-01), so that has two ends. A decision that nothing was reflected on is deleted by the purge of its time,
and all that was derived from it goes along. A reflected decision, and every lesson, stays held for good.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_app.roles.core import DECISION_KIND, LESSON_KIND
from memory_app.roles.models import RoleMemory
from memory_app.roles.selectors import subject_of
from minara_site.kernel.governance.services import delete_shadows
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.guard.services import delete_holds, new_hold, place_holds


@dataclass(frozen=True, slots=True)
class Guarded:
    """One of the two texts of an entry that the guard judges; `column` is set while it holds the text."""

    kind: str
    column: str
    text: Callable[[RoleMemory], str]


DECISIONS = Guarded(DECISION_KIND, "held_at", lambda entry: entry.guarded_text)
LESSONS = Guarded(LESSON_KIND, "lesson_held_at", lambda entry: entry.guarded_lesson)


def lock_entries(ids: Sequence[int]) -> list[RoleMemory]:
    """Return these entries, locked in the order in which every writer locks; unknown ids are left out."""
    return list(RoleMemory.objects.filter(pk__in=ids).order_by("pk").select_for_update(of=("self",)))


def rescan_entries(rows: Sequence[RoleMemory], *, now: datetime) -> dict[str, list[RoleMemory]]:
    """Judge entries by today's rules and return by kind those that are held by it.

    What is held already waits on for a person, or was discarded by one.
    """
    refused = {each.kind: hold_refused(rows, each, now=now) for each in (DECISIONS, LESSONS)}
    RoleMemory.objects.filter(pk__in=[row.pk for row in rows]).update(rules_version=guard.RULES.version)
    return refused


def hold_refused(
    rows: Sequence[RoleMemory],
    guarded: Guarded,
    *,
    now: datetime,
) -> list[RoleMemory]:
    """Hold what today's rules refuse of this text of the entries; return those that now wait."""
    texts = {row.pk: guarded.text(row) for row in rows if getattr(row, guarded.column) is None}
    verdicts = judge_stored(guarded.kind, texts)
    refused = [row for row in rows if row.pk in verdicts and verdicts[row.pk].is_held]
    if refused:
        RoleMemory.objects.filter(pk__in=[row.pk for row in refused]).update(**{guarded.column: now})
        place_holds(
            [
                new_hold(
                    kind=guarded.kind,
                    object_id=row.pk,
                    owner_id=row.owner_id,
                    text=guarded.text(row),
                    verdict=verdicts[row.pk],
                    actor=row.actor,
                    now=now,
                )
                for row in refused
            ]
        )
    return refused


def release(ids: Iterable[int], guarded: Guarded) -> None:
    """Let this held text of the entries be read from now on, and a decision be judged."""
    RoleMemory.objects.filter(pk__in=list(ids)).update(**{guarded.column: None})


def delete_decisions(ids: Collection[int]) -> None:
    """Delete decisions for good, with their holds and what a shadow said of them."""
    delete_shadows([subject_of(pk) for pk in ids])
    RoleMemory.objects.filter(pk__in=ids).delete()
    delete_holds(kind=DECISION_KIND, object_ids=ids)
