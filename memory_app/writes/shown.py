"""A plan, a record and the lights as pages show them: in words, a part of the rows at a time, with their addresses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from memory_app.memories.models import Memory, MemoryRevision
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.writes.core.entries import Done
from memory_app.writes.core.lights import Kind, Light
from memory_app.writes.core.plan import LEFT, UNRETIRED, EntryStep, Left, Plan, Repetition, Step, Why
from memory_app.writes.models import WriteRollback
from memory_app.writes.selectors.plans import Preview
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.core.diff import Segment, word_diff
from minara_site.kernel.guard.masking import mask, mask_value, masked_for
from minara_site.web.moments import number_words

Item = Step | EntryStep | Repetition | Left
PART = 50  # rows of a kind at a time
TITLES: Mapping[str, str | Promise] = {
    Done.CREATED: gettext_lazy("Written"),
    Done.EDITED: gettext_lazy("Edited"),
    Done.DELETED: gettext_lazy("Deleted"),
    Done.RESTORED: gettext_lazy("Restored"),
    Done.PROFILE: gettext_lazy("User profile"),
    UNRETIRED: gettext_lazy("Un-retired"),
    LEFT: gettext_lazy("Left alone"),
}
EFFECTS: Mapping[str, str | Promise] = {
    Done.CREATED: gettext_lazy("into the trash"),
    Done.EDITED: gettext_lazy("back to the text before"),
    Done.DELETED: gettext_lazy("back from the trash"),
    Done.RESTORED: gettext_lazy("back into the trash"),
    Done.PROFILE: gettext_lazy("back to the value before"),
    UNRETIRED: gettext_lazy("back to the pending facts, because what they repeated goes"),
    LEFT: gettext_lazy("untouched; each says why"),
}
EFFECTS_OF_UNDO: Mapping[str, str | Promise] = {
    **EFFECTS,
    Done.CREATED: gettext_lazy("back from the trash"),
    Done.EDITED: gettext_lazy("back to the later text"),
    Done.DELETED: gettext_lazy("back into the trash"),
    Done.RESTORED: gettext_lazy("back from the trash"),
    Done.PROFILE: gettext_lazy("back to the later value"),
}
REASONS: Mapping[str, str | Promise] = {
    Why.EDITED_SINCE: gettext_lazy("its text was changed afterwards"),
    Why.MOVED_SINCE: gettext_lazy("it was deleted or restored afterwards"),
    Why.CHANGED_SINCE: gettext_lazy("its value was changed afterwards"),
    Why.GONE: gettext_lazy("it was removed for good"),
    Why.WAITS: gettext_lazy("its new value waits in the queue of held texts; discard it there"),
}
LIGHT_WORDS: Mapping[Kind, Any] = {
    Kind.SIMILAR: ngettext_lazy(
        "%(number)s memory that says nearly the same as others",
        "%(number)s memories that say nearly the same",
        "count",
    ),
    Kind.AUTHORITY: ngettext_lazy(
        "%(number)s memory speaks of approving, transferring, withdrawing or moving a limit",
        "%(number)s memories speak of approving, transferring, withdrawing or moving a limit",
        "count",
    ),
    Kind.DESTINATION: ngettext_lazy(
        "%(number)s memory names a wallet or web address not seen before",
        "%(number)s memories name wallet or web addresses not seen before",
        "count",
    ),
    Kind.SPIKE: ngettext_lazy(
        "%(number)s write within an hour, far more than usual",
        "%(number)s writes within an hour, far more than usual",
        "count",
    ),
}


@dataclass(frozen=True, slots=True)
class Part:
    """What one kind of step does, and whether the page shows its rows."""

    kind: str
    title: str | Promise
    effect: str | Promise
    count: int
    is_current: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a plan. `changes` is what it says now against what it will say; `reason` why it is left alone."""

    memory: Memory | None = None
    owner: str = ""
    key: str = ""
    changes: Sequence[Segment] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A plan as a page shows it: its kinds with their counts, and a part of the rows of one of them."""

    parts: Sequence[Part]
    rows: Sequence[Row]
    first: int
    last: int
    total: int
    owner_ids: frozenset[int] = field(default_factory=frozenset)

    @property
    def next(self) -> int | None:
        """Return where the next part begins, None at the end."""
        return self.last if self.last < self.total else None


def show_plan(preview: Preview, *, kind: str, start: int, reader: User, is_undo: bool = False) -> Shown:
    """Return a plan as a page shows it. Five queries at most, whatever its size."""
    counts = preview.plan.counts
    current = kind if counts.get(kind) else next((name for name in TITLES if counts[name]), "")
    effects = EFFECTS_OF_UNDO if is_undo else EFFECTS
    parts = [
        Part(name, title, effects[name], counts[name], name == current)
        for name, title in TITLES.items()
        if counts[name]
    ]
    items = items_of(preview.plan, current)
    start = min(start, len(items))
    chosen = items[start : start + PART]
    owners = load_owners(chosen, preview)
    rows = shape_rows(chosen, preview, owners, reader=reader)
    return Shown(parts, rows, start + 1, start + len(chosen), len(items), frozenset(owners))


def items_of(plan: Plan, kind: str) -> Sequence[Item]:
    """Return the steps of a kind, what is un-retired, or what is left alone."""
    if kind == LEFT:
        return plan.left
    if kind == Done.PROFILE:
        return plan.entries
    if kind == UNRETIRED:
        return plan.repetitions
    return [step for step in plan.steps if step.done == kind]


def load_owners(items: Sequence[Item], preview: Preview) -> dict[int, str]:
    """Return the names of those whose rows these are."""
    ids = {owner_of(item, preview) for item in items}
    return {user.pk: user.get_short_name() for user in User.objects.filter(pk__in=ids - {None})}


def owner_of(item: Item, preview: Preview) -> int | None:
    """Return whose row it is, None when nobody knows: it is gone."""
    if isinstance(item, EntryStep):
        return item.owner_id
    row = preview.rows.get(item.memory_id) if item.memory_id is not None else None
    return row.owner_id if row else item.owner_id if isinstance(item, Left) else None


def shape_rows(items: Sequence[Item], preview: Preview, owners: Mapping[int, str], *, reader: User) -> list[Row]:
    """Return some items of a plan as rows."""
    texts = load_earlier([item for item in items if isinstance(item, Step)])
    values = load_values([item for item in items if isinstance(item, EntryStep)])
    names = name_actors({item.by for item in items if isinstance(item, Left) and item.by}, reader=reader)
    rows = []
    for item in items:
        owner = owners.get(owner_of(item, preview) or 0, "")
        if isinstance(item, EntryStep):
            now, before = values[item]
            if item.owner_id != reader.pk:
                now, before = mask_value(item.key, now), mask_value(item.key, before)
            rows.append(Row(owner=owner, key=item.key, changes=word_diff(now, before)))
        elif isinstance(item, Left):
            found = preview.rows.get(item.memory_id) if item.memory_id else None
            memory = masked_for(reader, found) if found else None
            rows.append(Row(memory, owner, item.key or gone_words(item, memory), reason=reason_words(item, names)))
        elif isinstance(item, Repetition):
            rows.append(Row(masked_for(reader, preview.rows[item.memory_id]), owner))
        else:
            memory = masked_for(reader, preview.rows[item.memory_id])
            earlier = texts.get((memory.pk, item.text or 0), memory.content)
            earlier = earlier if memory.owner_id == reader.pk else mask(earlier)
            rows.append(Row(memory, owner, changes=word_diff(memory.content, earlier) if item.text else ()))
    return rows


def show_left(record: WriteRollback, *, reader: User) -> list[tuple[int | None, str, str]]:
    """Return what a roll-back left alone, a part of it: the memory or the key, and why."""
    chosen = record.left[:PART]
    names = name_actors({each["by"] for each in chosen if each["by"]}, reader=reader)
    return [
        (each["memory"], each["key"], reason_words(Left(Why(each["why"]), by=each["by"]), names)) for each in chosen
    ]


def gone_words(left: Left, memory: Memory | None) -> str:
    """Return what stands for a memory that is gone."""
    return "" if memory or left.memory_id is None else _("memory %(id)d") % {"id": left.memory_id}


def reason_words(left: Left, names: Mapping[str, str]) -> str:
    """Return why a row is left alone."""
    words = str(REASONS[left.why])
    return _("%(what)s, by %(who)s") % {"what": words, "who": names[left.by]} if left.by else words


def load_earlier(steps: Sequence[Step]) -> dict[tuple[int, int], str]:
    """Return the texts that steps bring back, by memory and version."""
    wanted = {step.memory_id: step.text for step in steps if step.text is not None}
    if not wanted:
        return {}
    found = MemoryRevision.objects.filter(memory__in=wanted, version__in=set(wanted.values()))
    return {(pk, version): content for pk, version, content in found.values_list("memory_id", "version", "content")}


def load_values(steps: Sequence[EntryStep]) -> dict[EntryStep, tuple[str, str]]:
    """Return what entries say now and what they will say. Two queries."""
    if not steps:
        return {}
    earlier = UserProfileRevision.objects.filter(pk__in=[step.revision_id for step in steps])
    before = dict(earlier.values_list("pk", "value"))
    keys, owners = [step.key for step in steps], {step.owner_id for step in steps}
    entries = UserProfileEntry.objects.filter(owner__in=owners, key__in=keys)
    now = {(owner_id, key): value for owner_id, key, value in entries.values_list("owner_id", "key", "value")}
    return {step: (now.get((step.owner_id, step.key), ""), before[step.revision_id]) for step in steps}


@dataclass(frozen=True, slots=True)
class ShownLight:
    """A light in words, with where its rows are and where they can be taken back."""

    words: str
    who: str
    since: datetime
    rows_url: str
    undo_url: str


def show_lights(lights: Sequence[Light], names: Mapping[str, str]) -> list[ShownLight]:
    """Return lights in words; `names` holds who stands behind each writer."""
    return [
        ShownLight(
            words=str(LIGHT_WORDS[light.kind] % {"count": light.count, "number": number_words(light.count)}),
            who=names[light.writer],
            since=light.since,
            rows_url=address("writes:rows", writer=light.writer, light=light.kind.value),
            undo_url=undo_address(light.writer, light.since),
        )
        for light in lights
    ]


def undo_address(writer: str, since: datetime) -> str:
    """Return the address of the preview that takes back what a writer wrote since a moment."""
    return address("writes:preview", writer=writer, since=since.isoformat())


def address(url_name: str, **params: str) -> str:
    """Return an address with a query string."""
    return f"{reverse(url_name)}?{urlencode(params)}"
