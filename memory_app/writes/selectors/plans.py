"""What a writer wrote, and what rolling it back would do. Sources of truth: the audit log and the rows' histories."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from memory_app.facts.selectors import find_repetitions
from memory_app.memories.core import REVERT_REASON, ROLL_BACK_REASON, FactState
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.selectors import retention_cutoff
from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.writes.core.entries import IMPORT, IMPORT_CALLS, WRITES, Done, id_runs
from memory_app.writes.core.plan import (
    EntryStep,
    Left,
    Plan,
    Repetition,
    Stands,
    Step,
    Touched,
    Why,
    decide,
    decide_entries,
)
from memory_app.writes.models import RolledBackEntry, RolledBackMemory, WriteRollback
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Invalid, NotFound
from minara_site.kernel.guard.models import Hold

MOST_ROWS = 20_000  # of one roll-back: it is one transaction
SLICE = 500
Item = TypeVar("Item")


@dataclass(frozen=True)
class Preview:
    """A plan with the rows that it is about, and the hash that says that nothing changed since it was shown."""

    plan: Plan
    rows: Mapping[int, Memory]
    sha256: str


def preview_roll_back(*, writer: str, since: datetime, now: datetime, lock: bool = False) -> Preview:
    """Return what undoing everything that a writer wrote since a moment would do.

    `lock` keeps the rows until the transaction ends. Raises Invalid when that is more than one roll-back takes.
    """
    entries = list_entries(writer=writer, since=since)
    touched = find_touched(entries)
    rows = load_rows(touched, lock=lock)
    steps, left = decide(touched, find_standing(rows, touched, now=now), entries[0].actor if entries else "")
    entry_steps, entries_left = find_entry_steps(writer, entries, since=since)
    repetitions, theirs = find_repetitions_of(steps, rows, lock=lock)
    plan = Plan(tuple(steps), tuple(entry_steps), (*left, *entries_left, *find_waiting(entries)), repetitions)
    return Preview(plan, theirs | rows, plan.sha256(writer, since.isoformat()))


def list_entries(*, writer: str, since: datetime) -> list[AuditEntry]:
    """Return what the log says about the writes of a writer since a moment, oldest first. Raises Invalid."""
    entries = entries_of(writer).filter(at__gte=since).order_by("at", "pk")
    found = list(entries.only("at", "actor", "owner_id", "tool_call", "details")[: MOST_ROWS + 1])
    if len(found) > MOST_ROWS:
        raise too_many()
    return found


def entries_of(writer: str) -> "QuerySet[AuditEntry]":
    """Return the entries of a writer: of an actor, or of one run of an import."""
    if writer.startswith(IMPORT):
        run = writer.removeprefix(IMPORT)
        calls = [*IMPORT_CALLS, *(call for call, done in WRITES.items() if done is Done.PROFILE)]
        return AuditEntry.objects.filter(tool_call__in=calls, details__run=run)
    return AuditEntry.objects.filter(actor=writer, tool_call__in=WRITES)


def too_many() -> Invalid:
    """Return the refusal of a roll-back that is too large for one transaction."""
    most = _("That is more than %(most)s rows. Choose a later moment, and roll back in several steps.")
    return Invalid(most % {"most": f"{MOST_ROWS:,}"}, code="too_many")


def find_touched(entries: Iterable[AuditEntry]) -> dict[int, Touched]:
    """Return what these entries did to each memory. Raises Invalid when that is more than one roll-back takes."""
    touched: dict[int, Touched] = {}
    for entry in entries:
        match WRITES[entry.tool_call]:
            case Done.CREATED:
                for memory_id in ids_of(entry.details):
                    touched.setdefault(memory_id, Touched()).create()
            case Done.EDITED:
                touched.setdefault(entry.details["id"], Touched()).versions.add(entry.details["version"])
            case Done.DELETED | Done.RESTORED as done:
                for row in entry.details["memories"]:
                    marks = touched.setdefault(row["id"], Touched())
                    marks.move(entry.details["batch"], done, row.get("deleted_at"))
        if len(touched) > MOST_ROWS:
            raise too_many()
    return touched


def ids_of(details: Mapping[str, Any]) -> Iterator[int]:
    """Yield the ids that an entry is about, never more than tell that they are too many."""
    ids = (number for first, last in id_runs(details) for number in range(first, last + 1))
    return islice(ids, MOST_ROWS + 1)


def load_rows(ids: Iterable[int], *, lock: bool) -> dict[int, Memory]:
    """Return these memories by id, whoever owns them; only operators get here."""
    found: dict[int, Memory] = {}
    for chosen in slices(sorted(ids)):
        rows = Memory.objects.filter(pk__in=chosen).order_by("pk")
        found |= {row.pk: row for row in (rows.select_for_update(of=("self",)) if lock else rows)}
    return found


def slices(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in lists of a size that both engines take as parameters."""
    remaining = iter(items)
    while chosen := list(islice(remaining, SLICE)):
        yield chosen


def find_standing(rows: Mapping[int, Memory], touched: Mapping[int, Touched], *, now: datetime) -> dict[int, Stands]:
    """Return how each memory stands now."""
    cutoff = retention_cutoff(now)
    later = [pk for pk, row in rows.items() if row.version > 1]
    again, first = find_again(rows, later), find_first_actors(pk for pk in later if touched[pk].created)
    return {
        pk: Stands(
            version=row.version,
            batch=row.batch,
            deleted_at=row.deleted_at,
            is_kept=row.deleted_at is None or row.deleted_at > cutoff,
            actor=row.actor,
            first_actor=first.get(pk, row.actor),
            again=again.get(pk, {}),
        )
        for pk, row in rows.items()
    }


def find_again(rows: Mapping[int, Memory], ids: Iterable[int]) -> dict[int, dict[int, int]]:
    """Return by memory the versions by which a roll-back, its undo or a discard said an earlier one again, and which.

    Such a version says the same, by the same writer, of the same moment.
    """
    found: dict[int, dict[int, int]] = {}
    for chosen in slices(ids):
        revisions = MemoryRevision.objects.filter(memory__in=chosen)
        back = revisions.filter(Q(reason__startswith=ROLL_BACK_REASON) | Q(reason__startswith=REVERT_REASON))
        copies = {(memory_id, version + 1) for memory_id, version in back.values_list("memory", "version")}
        said: dict[tuple[Any, ...], int] = {}
        telling = sorted({memory_id for memory_id, _version in copies})
        earlier = revisions.filter(memory__in=telling).order_by("memory", "version") if telling else ()
        for each in (*earlier, *(rows[pk] for pk in telling)):
            pk = each.pk if isinstance(each, Memory) else each.memory_id
            moment = each.updated_at or rows[pk].created_at
            state = (pk, each.content, each.fact_type, tuple(each.tickers), each.actor, moment)
            if (pk, each.version) in copies and state in said:
                found.setdefault(pk, {})[each.version] = said[state]
            said[state] = each.version
    return found


def find_first_actors(ids: Iterable[int]) -> dict[int, str]:
    """Return who wrote the first version of memories that have more than one."""
    found: dict[int, str] = {}
    for chosen in slices(ids):
        first = MemoryRevision.objects.filter(memory__in=chosen, version=1)
        found |= dict(first.values_list("memory_id", "actor"))
    return found


def find_entry_steps(
    writer: str, entries: Iterable[AuditEntry], *, since: datetime
) -> tuple[list[EntryStep], list[Left]]:
    """Return what becomes of each entry of a profile that a writer changed. Two queries, three after a roll-back."""
    own = revisions_of(writer, entries, since=since)
    mine = {pk: (owner_id, key) for pk, owner_id, key in own.values_list("pk", "owner_id", "key")}
    if not mine:
        return [], []
    owners, keys = zip(*set(mine.values()), strict=True)
    places = Q(owner__in=set(owners), key__in=set(keys))  # not pair by pair: SQLite takes no thousand conditions
    steps = RolledBackEntry.objects.filter(revision=OuterRef("pk"))
    changes = (
        UserProfileRevision.objects.filter(places, pk__gte=min(mine)).annotate(is_back=Exists(steps)).order_by("pk")
    )
    by_rollback = {each.pk for each in changes if each.is_back}
    again = find_values_again(changes, by_rollback, places) if by_rollback else {}
    rows = [(each.pk, each.owner_id, each.key, each.replaced_by) for each in changes]
    return decide_entries(rows, mine=mine.keys(), again=again)


def find_values_again(
    changes: Iterable[UserProfileRevision], by_rollback: Collection[int], places: Q
) -> dict[int, int]:
    """Return the changes of roll-backs and their undos that gave back a value, and the revision that holds it."""
    again: dict[int, int] = {}
    last: dict[tuple[int, str], int] = {}
    holding: dict[tuple[Any, ...], int] = {}
    for each in changes:
        place, said = (each.owner_id, each.key), value_of(each)
        if place in last and last[place] in by_rollback and said in holding:
            again[last[place]] = holding[said]
        holding[said] = last[place] = each.pk
    now = {(entry.owner_id, entry.key): value_of(entry) for entry in UserProfileEntry.objects.filter(places)}
    for place, change in last.items():
        said = now.get(place, place)
        if change in by_rollback and said in holding:
            again[change] = holding[said]
    return again


def value_of(row: UserProfileEntry | UserProfileRevision) -> tuple[Any, ...]:
    """Return whose entry it is, and what it says by whom since when, if anything."""
    place = (row.owner_id, row.key)
    return (*place, row.value, row.actor, row.updated_at) if row.value else place


def revisions_of(writer: str, entries: Iterable[AuditEntry], *, since: datetime) -> "QuerySet[UserProfileRevision]":
    """Return the revisions by which a writer changed profiles; those of an import are the moments of its entries."""
    revisions: QuerySet[UserProfileRevision] = UserProfileRevision.objects.filter(replaced_at__gte=since)
    if not writer.startswith(IMPORT):
        return revisions.filter(replaced_by=writer)
    moments = Q(pk__in=())
    for entry in entries:
        if WRITES[entry.tool_call] is Done.PROFILE:
            moments |= Q(
                owner_id=entry.owner_id, key=entry.details["key"], replaced_at=entry.at, replaced_by=entry.actor
            )
    return revisions.filter(moments)


def find_waiting(entries: Iterable[AuditEntry]) -> list[Left]:
    """Return the values of profiles that these entries wrote and the guard holds: their place is the queue."""
    written = {
        (entry.owner_id, entry.details["key"], entry.at)
        for entry in entries
        if WRITES[entry.tool_call] is Done.PROFILE and "held" in entry.details
    }
    if not written:
        return []
    holds = Hold.objects.open().filter(kind=PROFILE_KIND, owner__in={owner_id for owner_id, *_rest in written})
    held_at = dict(holds.values_list("object_id", "held_at"))
    places = UserProfileEntry.objects.filter(pk__in=held_at).order_by("owner", "key")
    return [
        Left(Why.WAITS, owner_id=owner_id, key=key)
        for pk, owner_id, key in places.values_list("pk", "owner_id", "key")
        if (owner_id, key, held_at[pk]) in written
    ]


def find_repetitions_of(
    steps: Collection[Step], rows: Mapping[int, Memory], *, lock: bool
) -> tuple[tuple[Repetition, ...], dict[int, Memory]]:
    """Return the facts that are retired as repetitions of what these steps take away, and their rows.

    What goes to the trash itself stays retired.
    """
    gone = {step.memory_id for step in steps if step.is_deleted}
    changed = {step.memory_id for step in steps if step.text is not None}
    events: dict[int, int] = {}
    for chosen in slices(pk for pk in sorted(gone | changed) if is_repeatable(rows[pk])):
        events |= find_repetitions(chosen)
    found = load_rows(events.keys() - gone, lock=lock)
    retired = {pk: row for pk, row in found.items() if row.fact_state == FactState.RETIRED}
    return tuple(Repetition(pk, events[pk]) for pk in retired), retired


def is_repeatable(row: Memory) -> bool:
    """Say whether facts may have given way to a row that stands: to another fact, or to what their owner typed."""
    return row.deleted_at is None and (row.fact_state is not None or row.is_editable)


def preview_undo(rollback: WriteRollback, *, lock: bool = False) -> Preview:
    """Return what undoing a roll-back would do: every row that nobody changed since stands as it stood before it."""
    items = list(rollback.memories.order_by("memory_id"))
    rows = load_rows([item.memory_id for item in items], lock=lock)
    steps, left = [], []
    for item in items:
        row = rows[item.memory_id]
        if (row.version, row.batch) == (item.version_after, item.batch_after):
            steps.append(step_back(item))
        else:
            left.append(left_after(item, row))
    entry_steps, entries_left = find_entries_back(rollback)
    repetitions, theirs = find_repetitions_of(steps, rows, lock=lock)
    plan = Plan(tuple(steps), tuple(entry_steps), (*left, *entries_left), repetitions)
    return Preview(plan, theirs | rows, plan.sha256("undo", str(rollback.pk)))


def left_after(item: RolledBackMemory, row: Memory) -> Left:
    """Return why an undo leaves a row alone."""
    if row.version != item.version_after:
        return Left(Why.EDITED_SINCE, row.pk, by=row.actor)
    return Left(Why.MOVED_SINCE, row.pk)


def step_back(item: RolledBackMemory) -> Step:
    """Return the step that puts a row back as it stood before its roll-back."""
    return Step(
        memory_id=item.memory_id,
        done=Done(item.done),
        version=item.version_after,
        batch=item.batch_after,
        text=item.version,
        is_moved=item.is_moved,
        is_deleted=item.deleted_at is not None,
        deleted_at=item.deleted_at.isoformat() if item.deleted_at else "",
        batch_back=item.batch,
    )


def find_entries_back(rollback: WriteRollback) -> tuple[list[EntryStep], list[Left]]:
    """Return what becomes of the entries of profiles that a roll-back changed."""
    steps, left = [], []
    for item in rollback.entries.order_by("pk"):
        later = UserProfileRevision.objects.filter(owner_id=item.owner_id, key=item.key, pk__gt=item.revision_id)
        changed_by = later.order_by("-pk").values_list("replaced_by", flat=True).first()
        if changed_by is None:
            steps.append(EntryStep(item.owner_id, item.key, item.revision_id, item.revision_id))
        else:
            left.append(Left(Why.CHANGED_SINCE, owner_id=item.owner_id, key=item.key, by=changed_by))
    return steps, left


def get_rollback(rollback_id: int) -> WriteRollback:
    """Return one roll-back. Raises NotFound."""
    found: WriteRollback | None = (
        WriteRollback.objects.select_related("undone_by", "undoes").filter(pk=rollback_id).first()
    )
    if found is None:
        raise NotFound(_("There is no such roll-back."))
    return found
