"""Memories under guard: the verdict that is stored with a row, and the holds of the refused. Sources: trust P-02, P-04.

Texts are judged where they change; whoever changes one calls this module in the same transaction.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from memory_app.memories.core import MEMORY_KIND
from memory_app.memories.models import Memory
from minara_site.kernel.core.vocabulary import is_named_key
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Verdict, always_waits
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.guard.services import delete_holds, lift_holds, new_hold, place_holds


def judge_new(memory: Memory, *, now: datetime) -> None:
    """Judge an unsaved row: a refused one is stored as held, and `hold_new` says why."""
    verdict = guard.judge(memory.guarded_text)
    memory.rules_version = verdict.rules_version
    memory.held_at = now if verdict.is_held else None


def hold_new(rows: Iterable[Memory], *, now: datetime) -> int:
    """Place the holds of new rows that `judge_new` refused; return how many."""
    holds = [
        hold_of(
            row,
            guard.judge(row.guarded_text),
            now=now,
        )
        for row in rows
        if row.held_at
    ]
    if holds:
        place_holds(holds)
    return len(holds)


def save_judged(memory: Memory, *, actor: str, now: datetime) -> None:
    """Store a row that somebody changed with the verdict on it; a hold that waited for its old text is replaced.

    A key's other words for what is held wait too, whatever they say.
    """
    verdict = judge_rows([memory])[memory.pk]
    was_held = memory.held_at is not None
    if was_held and is_named_key(actor):
        verdict = always_waits(memory.guarded_text, verdict)
    memory.rules_version = verdict.rules_version
    memory.held_at = now if verdict.is_held else None
    memory.save()
    if was_held:
        lift_holds(
            kind=MEMORY_KIND,
            object_ids=[memory.pk],
            actor=actor,
            now=now,
        )
    if verdict.is_held:
        place_holds([hold_of(memory, verdict, now=now)])


def judge_returning(rows: Sequence[Memory], *, now: datetime) -> list[Memory]:
    """Judge rows that come back from the trash, unless today's rules accepted them already; return those that wait.

    What was held before waits since then: an edit that was refused is still one, whatever trash it went through.
    """
    doubtful = [row for row in rows if row.held_at or row.rules_version != guard.RULES.version]
    verdicts = judge_rows(doubtful)
    accepted = [pk for pk, verdict in verdicts.items() if not verdict.is_held]
    Memory.objects.filter(pk__in=verdicts).update(rules_version=guard.RULES.version)
    Memory.objects.filter(pk__in=accepted).update(held_at=None)
    return hold_refused(doubtful, verdicts, now=now)


def rescan_rows(rows: Sequence[Memory], *, now: datetime) -> list[Memory]:
    """Judge rows by today's rules and return those that are held by it.

    What is held already waits on for a person. What lies in the trash is only marked: it is judged when it returns.
    """
    verdicts = judge_rows([row for row in rows if row.held_at is None])
    Memory.objects.filter(pk__in=[row.pk for row in rows]).update(rules_version=guard.RULES.version)
    return hold_refused(
        [row for row in rows if row.held_at is None],
        verdicts,
        now=now,
    )


def judge_rows(rows: Iterable[Memory]) -> dict[int, Verdict]:
    """Return the verdict on each stored row by its id."""
    return judge_stored(MEMORY_KIND, {row.pk: row.guarded_text for row in rows})


def hold_refused(
    rows: Iterable[Memory],
    verdicts: dict[int, Verdict],
    *,
    now: datetime,
) -> list[Memory]:
    """Hold the rows whose verdict refuses them; return those that now wait."""
    refused = [row for row in rows if verdicts[row.pk].is_held]
    if refused:
        Memory.objects.filter(pk__in=[row.pk for row in refused], held_at__isnull=True).update(held_at=now)
    waiting = [row for row in refused if row.deleted_at is None]
    place_holds(
        [
            hold_of(
                row,
                verdicts[row.pk],
                now=row.held_at or now,
            )
            for row in waiting
        ]
    )
    return waiting


def hold_of(memory: Memory, verdict: Verdict, *, now: datetime) -> Hold:
    """Return the unsaved hold of a memory."""
    return new_hold(
        kind=MEMORY_KIND,
        object_id=memory.pk,
        owner_id=memory.owner_id,
        text=memory.guarded_text,
        verdict=verdict,
        actor=memory.actor,
        now=now,
    )


def release_memories(rows: Sequence[Memory]) -> None:
    """Let held rows be read from now on; when they were written stays as it was."""
    Memory.objects.filter(pk__in=[row.pk for row in rows]).update(held_at=None)
    for row in rows:
        row.held_at = None


def publish_stated(rows: Sequence[Memory], *, now: datetime) -> None:
    """Tell who compares texts that agents may read these."""
    stored_kinds()[MEMORY_KIND].state(rows, now=now)


def discard_holds(rows: Iterable[Memory], *, actor: str, now: datetime) -> None:
    """Close the holds of rows that go to the trash; who restores one has it judged again."""
    held = [row.pk for row in rows if row.held_at]
    if held:
        lift_holds(
            kind=MEMORY_KIND,
            object_ids=held,
            actor=actor,
            now=now,
            decision=Decision.DISCARDED,
        )


def delete_permanently(ids: Sequence[int]) -> None:
    """Remove memories for good with their holds and with what was kept of where they were read.

    The rest hangs on them by foreign key or trigger.
    """
    stored_kinds()[MEMORY_KIND].delete_derived(ids)
    Memory.objects.filter(pk__in=ids).delete()
    delete_holds(kind=MEMORY_KIND, object_ids=ids)
