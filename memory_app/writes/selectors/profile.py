"""What a roll-back does to values of user profiles. What a profile said before is in its revisions."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.writes.core.entries import IMPORT
from memory_app.writes.core.profile import EntryStep, decide_entries
from memory_app.writes.models import RolledBackEntry
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.rollback import Entries, UnchangedRow
from minara_site.kernel.unchanged import UnchangedReason


def list_own_revisions(
    writer: str,
    entries: Entries,
    *,
    since: datetime,
) -> "QuerySet[UserProfileRevision]":
    """Return the revisions by which a writer changed profiles; those of an import are the moments of its entries."""
    revisions: QuerySet[UserProfileRevision] = UserProfileRevision.objects.filter(replaced_at__gte=since)
    if not writer.startswith(IMPORT):
        return revisions.filter(replaced_by=writer)
    moments = Q(pk__in=())
    for entry in entries:
        moments |= Q(
            owner_id=entry.owner_id,
            key=entry.details["key"],
            replaced_at=entry.at,
            replaced_by=entry.actor,
        )
    return revisions.filter(moments)


def decide_revisions(mine: Mapping[int, tuple[int, str]]) -> tuple[list[EntryStep], list[UnchangedRow]]:
    """Return what becomes of the entries that these revisions of a writer are about. A query, two after a roll-back."""
    owners, keys = zip(*set(mine.values()), strict=True)
    places = Q(owner__in=set(owners), key__in=set(keys))  # not pair by pair: SQLite takes no thousand conditions
    changes = UserProfileRevision.objects.filter(places, pk__gte=min(mine)).order_by("pk")
    changes = changes.annotate(is_back=Exists(RolledBackEntry.objects.filter(revision=OuterRef("pk"))))
    by_rollback = {each.pk for each in changes if each.is_back}
    reapplied = find_reapplied_values(changes, by_rollback, places) if by_rollback else {}
    rows = [(each.pk, each.owner_id, each.key, each.replaced_by) for each in changes]
    return decide_entries(rows, mine=mine.keys(), reapplied=reapplied)


def find_reapplied_values(
    changes: Iterable[Any],
    by_rollback: Collection[int],
    places: Q,
) -> dict[int, int]:
    """Return the changes of roll-backs and their undos that gave back a value, and the revision that holds it."""
    now = {value_of(entry)[:2]: value_of(entry) for entry in UserProfileEntry.objects.filter(places)}
    values = [(value_of(each), each.pk) for each in changes]
    values += [(now.get(place, place), 0) for place in {value[:2] for value, _pk in values}]
    reapplied, last, holding = dict[int, int](), dict[Any, int](), dict[Any, int]()
    for value, pk in values:
        place = value[:2]
        if last.get(place) in by_rollback and value in holding:
            reapplied[last[place]] = holding[value]
        holding[value] = last[place] = pk
    return reapplied


def value_of(row: UserProfileEntry | UserProfileRevision) -> tuple[Any, ...]:
    """Return whose entry it is, and what it says by whom since when, if anything."""
    place = (row.owner_id, row.key)
    return (*place, row.value, row.actor, row.updated_at) if row.value else place


def find_held(entries: Entries) -> list[UnchangedRow]:
    """Return the values that these entries wrote and the guard holds: a person decides on them in the queue."""
    written = {
        (
            entry.owner_id,
            entry.details["key"],
            entry.at,
        )
        for entry in entries
        if "held" in entry.details
    }
    if not written:
        return []
    holds = Hold.objects.open().filter(
        kind=PROFILE_KIND,
        owner__in={owner_id for owner_id, *_rest in written},
    )
    held_at = dict(holds.values_list("object_id", "held_at"))
    places = UserProfileEntry.objects.filter(pk__in=held_at).order_by("owner", "key")
    return [
        UnchangedRow(UnchangedReason.WAITS, key, owner_id)
        for pk, owner_id, key in places.values_list("pk", "owner_id", "key")
        if (owner_id, key, held_at[pk]) in written
    ]


def decide_undo_of_entries(rollback_id: int) -> tuple[list[EntryStep], list[UnchangedRow]]:
    """Return what becomes of the entries that a roll-back changed: those that no one changed since go back."""
    steps, unchanged = [], []
    for item in RolledBackEntry.objects.filter(rollback=rollback_id).order_by("pk"):
        later = UserProfileRevision.objects.filter(
            owner_id=item.owner_id,
            key=item.key,
            pk__gt=item.revision_id,
        )
        changed_by = later.order_by("-pk").values_list("replaced_by", flat=True).first()
        if changed_by is None:
            steps.append(EntryStep(item.owner_id, item.key, item.revision_id, item.revision_id))
        else:
            unchanged.append(
                UnchangedRow(
                    UnchangedReason.CHANGED_SINCE,
                    item.key,
                    item.owner_id,
                    by=changed_by,
                )
            )
    return steps, unchanged
