"""Values of a user profile in a roll-back. What a profile said before is in its revisions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy

from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.user_profile.selectors import find_entry, find_hold
from memory_app.user_profile.services import hold_value, judge_value, keep_revision, take_turns
from memory_app.writes.core.entries import IMPORT
from memory_app.writes.core.profile import EntryStep, decide_entries
from memory_app.writes.models import RolledBackEntry
from minara_site.access.models import User
from minara_site.kernel.core.diff import word_diff
from minara_site.kernel.guard.masking import mask_value
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.services import lift_holds
from minara_site.kernel.rollback import (
    Effect,
    Entries,
    KindPlan,
    PlanRow,
    RollbackKind,
    RollbackRecord,
    UnchangedReason,
    UnchangedRow,
)

PROFILE = "profile"
VALUE_BEFORE, LATER_VALUE = gettext_lazy("back to the value before"), gettext_lazy("back to the later value")
ACTS = ("user_profile_set", "user_profile_removed")


class ProfileRollback(RollbackKind):
    """Values of user profiles."""

    name = PROFILE_KIND
    label = gettext_lazy("User profile")
    writes: ClassVar = dict.fromkeys(ACTS, PROFILE)
    import_acts = ACTS
    effects = (Effect(PROFILE, label, VALUE_BEFORE, LATER_VALUE, column=gettext_lazy("Profile")),)
    audit_key, record_key = "keys", "key"

    def plan(self, entries: Entries, *, writer: str, since: datetime, now: datetime, lock: bool) -> KindPlan:
        own = list_own_revisions(writer, entries, since=since)
        mine = {pk: (owner_id, key) for pk, owner_id, key in own.values_list("pk", "owner_id", "key")}
        steps, unchanged = decide_revisions(mine) if mine else ([], [])
        return KindPlan({PROFILE: steps}, [*unchanged, *find_held(entries)])

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        steps, unchanged = [], []
        for item in RolledBackEntry.objects.filter(rollback=record.pk).order_by("pk"):
            later = UserProfileRevision.objects.filter(owner_id=item.owner_id, key=item.key, pk__gt=item.revision_id)
            changed_by = later.order_by("-pk").values_list("replaced_by", flat=True).first()
            if changed_by is None:
                steps.append(EntryStep(item.owner_id, item.key, item.revision_id, item.revision_id))
            else:
                unchanged.append(UnchangedRow(UnchangedReason.CHANGED_SINCE, item.key, item.owner_id, by=changed_by))
        return KindPlan({PROFILE: steps}, unchanged)

    def apply(self, record: RollbackRecord, plan: KindPlan) -> Mapping[int, Mapping[str, Any]]:
        keys: dict[int, list[str]] = {}
        for step in plan.steps[PROFILE]:
            apply_step(record, step)
            keys.setdefault(step.owner_id, []).append(step.key)
        return {owner_id: {"keys": each, "count": len(each)} for owner_id, each in keys.items()}

    def show_steps(self, steps: Sequence[Any], plan: KindPlan, *, reader: Any) -> Sequence[PlanRow]:
        earlier = UserProfileRevision.objects.filter(pk__in=[step.revision_id for step in steps])
        before = dict(earlier.values_list("pk", "value"))
        entries = UserProfileEntry.objects.filter(owner__in={step.owner_id for step in steps})
        found = entries.filter(key__in=[step.key for step in steps]).values_list("owner_id", "key", "value")
        now = {(owner_id, key): value for owner_id, key, value in found}
        rows = []
        for step in steps:
            values = now.get((step.owner_id, step.key), ""), before[step.revision_id]
            if step.owner_id != reader.pk:
                values = mask_value(step.key, values[0]), mask_value(step.key, values[1])
            rows.append(PlanRow(step.key, step.owner_id, changes=word_diff(*values)))
        return rows


def list_own_revisions(writer: str, entries: Entries, *, since: datetime) -> "QuerySet[UserProfileRevision]":
    """Return the revisions by which a writer changed profiles; those of an import are the moments of its entries."""
    revisions: QuerySet[UserProfileRevision] = UserProfileRevision.objects.filter(replaced_at__gte=since)
    if not writer.startswith(IMPORT):
        return revisions.filter(replaced_by=writer)
    moments = Q(pk__in=())
    for entry in entries:
        moments |= Q(owner_id=entry.owner_id, key=entry.details["key"], replaced_at=entry.at, replaced_by=entry.actor)
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
    changes: Iterable[UserProfileRevision], by_rollback: Collection[int], places: Q
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
    written = {(entry.owner_id, entry.details["key"], entry.at) for entry in entries if "held" in entry.details}
    if not written:
        return []
    holds = Hold.objects.open().filter(kind=PROFILE_KIND, owner__in={owner_id for owner_id, *_rest in written})
    held_at = dict(holds.values_list("object_id", "held_at"))
    places = UserProfileEntry.objects.filter(pk__in=held_at).order_by("owner", "key")
    return [
        UnchangedRow(UnchangedReason.WAITS, key, owner_id)
        for pk, owner_id, key in places.values_list("pk", "owner_id", "key")
        if (owner_id, key, held_at[pk]) in written
    ]


def apply_step(record: RollbackRecord, step: EntryStep) -> None:
    """Give an entry of a profile the value of an earlier revision; without a value the entry goes."""
    owner = User.objects.get(pk=step.owner_id)
    take_turns(owner)
    earlier = UserProfileRevision.objects.get(pk=step.revision_id)
    entry = find_entry(owner=owner, key=step.key) or UserProfileEntry(owner=owner, key=step.key)
    keep_revision(entry, actor=record.actor, now=record.at)
    hold = find_hold(entry) if record.undoes is not None else None
    if hold is not None and hold.held_at == record.undoes.at:  # held by the roll-back that is undone
        entry.held_value = ""
        lift_holds(kind=PROFILE_KIND, object_ids=[entry.pk], actor=record.undoes.actor, now=record.at)
    if earlier.value:
        set_value(entry, earlier, now=record.at)
    elif entry.held_value:  # what is held goes on waiting
        entry.value = ""
        entry.save()
    elif entry.pk is not None:
        entry.delete()
    replaced = UserProfileRevision.objects.for_owner(owner).filter(key=step.key).latest("pk")
    RolledBackEntry.objects.create(rollback_id=record.pk, owner=owner, key=step.key, revision=replaced)


def set_value(entry: UserProfileEntry, earlier: UserProfileRevision, *, now: datetime) -> None:
    """Give an entry the value, writer and moment of an earlier revision; what today's rules refuse is held instead."""
    verdict = judge_value(entry, earlier.value)
    entry.value, entry.actor = "" if verdict.is_held else earlier.value, earlier.actor
    entry.updated_at, entry.rules_version = earlier.updated_at or now, verdict.rules_version
    if verdict.is_held and not entry.held_value:  # what is held already waits alone
        hold_value(entry, earlier.value, verdict, actor=earlier.actor, now=now)
    else:
        entry.save()
