"""The facet of a kind whose rows acts change: what a room says of its table. The rest is the same for all."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar

from django.db.models import DateTimeField

from minara_site.kernel.changes.core import TEXT_VERSION, State, Step
from minara_site.kernel.changes.models import ChangeSet, Revision
from minara_site.kernel.db import slices, update_rows
from minara_site.kernel.registry import facets
from minara_site.kernel.unchanged import UnchangedReason

EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


class Changes:
    """The columns of a table that acts change, and what undoing them means for a row.

    `columns` are compared and restored; those `beside` come back where nothing changed them since, and are never in the
    way. A new column is added at the end, because stored changes keep their order. `texts` are the columns of its
    words; then `text_version` is among the columns. `differs` is why a row stays that reads otherwise. What was made is
    undone while it reads as it was made, or `whatever_since`. `undone` says of how many rows, as `number`, something
    was undone; `id_column` is what pages and the audit log call a row.
    """

    name: ClassVar[str]
    model: ClassVar[Any]
    columns: ClassVar[tuple[str, ...]]
    beside: ClassVar[Collection[str]] = ()
    texts: ClassVar[tuple[str, ...]] = ()
    differs: ClassVar[UnchangedReason] = UnchangedReason.CHANGED_SINCE
    whatever_since: ClassVar[bool] = False
    undone: ClassVar[Any]
    label: ClassVar[Any] = ""
    id_column: ClassVar[str] = "pk"

    def gone(self, state: State, *, actor: str, now: datetime) -> State:
        """Return what a row becomes whose creation is undone; without an answer it stays, and says so."""
        return state

    def sign(self, state: State, target: State, *, actor: str) -> State:
        """Return where an undo by this actor leads a row, with their name where the row keeps whose state it is."""
        return target

    def may_restore(self, steps: Sequence[Step], *, actor: str, now: datetime) -> dict[str, UnchangedReason]:
        """Return by key why rows stay that would move; few queries, whatever their number."""
        return {}

    def follows(self, steps: Sequence[Step]) -> Sequence[tuple[str, str]]:
        """Return the further changes that `restore` makes with these, as kind and key."""
        return ()

    def restore(self, steps: Sequence[Step], *, made: ChangeSet) -> None:
        """Store the locked rows of these steps, which read as they are to, as the set that is made does it.

        What comes back is judged. Nothing else is touched.
        """
        update_rows(self.model, (*self.columns, *self.texts), [step.row for step in steps])

    def title_of(self, row: Any) -> str:
        """Return what a row is called where its kind has no text under guard."""
        return f"{self.label} {row.pk}"

    def title(self, number: int) -> str:
        """Return what a row is called that is gone."""
        return f"{self.label} {number}"

    def url_of(self, row: Any) -> str:
        """Return its page."""
        return ""

    def name_rows(self, steps: Sequence[Step]) -> dict[str, Any]:
        """Return what the audit log keeps of moved rows."""
        return {"ids": [getattr(step.row, self.id_column) for step in steps]}

    def state_of(self, row: Any) -> State:
        """Return the state of a row."""
        return {name: getattr(row, name) for name in self.columns}

    def load(self, keys: Iterable[str], *, lock: bool = False) -> dict[str, Any]:
        """Return the rows that are there by key, in the order in which every writer locks."""
        found: dict[str, Any] = {}
        for numbers in slices(sorted(map(int, keys))):
            rows = self.model.objects.filter(pk__in=numbers).order_by("pk")
            found |= {str(row.pk): row for row in (rows.select_for_update(of=("self",)) if lock else rows)}
        return found

    def load_texts(self, steps: Sequence[Step]) -> dict[str, dict[str, Any]]:
        """Return by key the words to which steps lead, where some were kept."""
        numbers = {step.key: step.after.get(TEXT_VERSION) for step in steps if self.texts}
        kept = Revision.objects.filter(kind=self.name, key__in=numbers)
        return {each.key: each.texts for each in kept if each.number == numbers[each.key]}

    def pack(self, state: State) -> list[Any]:
        """Return a state as changes keep it."""
        values = map(state.get, self.columns)
        return [(value - EPOCH) // MICROSECOND if isinstance(value, datetime) else value for value in values]

    def unpack(self, values: Sequence[Any] | None) -> State:
        """Return the state that a change keeps; a column that is younger than it is not in it."""
        return {
            name: EPOCH + value * MICROSECOND if value and name in self.moments else value
            for name, value in zip(self.columns, values or (), strict=False)
        }

    @cached_property
    def moments(self) -> set[str]:
        """The columns that hold moments."""
        return {field.name for field in self.model._meta.fields if isinstance(field, DateTimeField)}  # noqa: SLF001


def changes_of() -> dict[str, Changes]:
    """Return the facet of each kind that has one, by the kind's name, in the order in which the apps list them."""
    return {facet.name: facet for facet in facets(Changes)}
