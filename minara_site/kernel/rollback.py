"""Rolling back what a writer wrote: what `memory_app/writes` asks of a kind of row, without knowing its table.

An app lists its kinds in `<app>/rollbacks.py`. An act of the audit log, and an effect, belongs to one kind alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Protocol

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.changes.core import Plan, State, Step
from minara_site.kernel.changes.kinds import Changes, changes_of
from minara_site.kernel.changes.models import Change
from minara_site.kernel.core.diff import Segment
from minara_site.kernel.db import slices
from minara_site.kernel.errors import Invalid
from minara_site.kernel.guard.kinds import Label, stored_kinds
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.registry import load
from minara_site.kernel.unchanged import UnchangedReason

Entries = Sequence[AuditEntry]
MAX_ROWS = 20_000  # of one roll-back: it is one transaction
ROLLBACK = "rollback:"
"""How the `run` of a set begins that is the roll-back of a writer, or its undo; the number of its record follows."""
UNCHANGED = "left"  # the unchanged rows in counts, records and addresses, beside the effects


@dataclass(frozen=True, slots=True)
class UnchangedRow:
    """A row that stays as it is: `object_id` names it within its kind, `by` is who changed it, where known."""

    reason: UnchangedReason
    object_id: Any
    owner_id: int | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """What writers did to rows, or what `follows` of it. `column` heads it among writers, if the title does not."""

    name: str
    title: Label
    on_roll_back: Label
    on_undo: Label
    column: Label = ""
    follows: bool = False


STAYS = gettext_lazy("untouched; each says why")
UNCHANGED_EFFECT = Effect(
    UNCHANGED,
    gettext_lazy("Unchanged"),
    STAYS,
    STAYS,
    follows=True,
)


@dataclass(frozen=True)
class KindPlan:
    """What becomes of the rows of one kind: `steps` are dataclasses by effect, in a stable order.

    The hash of a plan covers steps and unchanged rows, not `rows`, which the kind needs to show and apply them.
    `has_more` says that the next roll-back takes further rows: an import is rolled back in parts of MAX_ROWS.
    """

    steps: Mapping[str, Sequence[Any]]
    unchanged: Sequence[UnchangedRow] = ()
    rows: Mapping[Any, Any] = field(default_factory=dict)
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A row of a plan on a page, masked for its reader; `changes` lead from what it says now to what it will say."""

    label: str
    owner_id: int | None
    url: str = ""
    category: str = ""
    changes: Sequence[Segment] = ()


class RollbackRecord(Protocol):
    """A stored roll-back, or the undo of one (`undoes`). `batch` marks the rows that it moved."""

    pk: Any
    actor: Any
    at: Any
    batch: Any
    undoes: Any
    change_set: Any


class RollbackKind(ABC):
    """One kind of row that writers write: `writes` are its audit acts and the effect of each.

    `import_acts` of them carry the run of an import. The audit entry of a roll-back lists its rows under `audit_key`,
    its record names a row that was left unchanged under `record_key`.
    """

    name: ClassVar[str]
    label: ClassVar[Label]
    writes: ClassVar[Mapping[str, str]]
    import_acts: ClassVar[Collection[str]] = ()
    effects: ClassVar[Sequence[Effect]]
    audit_key: ClassVar[str]
    record_key: ClassVar[str]

    def apply(
        self,
        record: RollbackRecord,
        plan: KindPlan,
    ) -> Mapping[Any, Mapping[str, Any]]:
        """Do what a plan says and store what its undo needs, in the caller's transaction; the rows are locked.

        Returns by owner, None for the instance, what the audit entry says: the rows under `audit_key`, their `count`,
        and more. A kind without effects does nothing.
        """
        return {}

    def show_steps(
        self,
        steps: Sequence[Any],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        """Return some steps of one effect as this person may see them, in their order."""
        return ()

    def show_unchanged(
        self,
        rows: Sequence[UnchangedRow],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        """Return some unchanged rows as this person may see them, in their order."""
        return [
            PlanRow(
                self.title(row.object_id),
                row.owner_id,
                "" if row.reason == UnchangedReason.GONE else self.url(row.object_id),
            )
            for row in rows
        ]

    def title(self, object_id: Any) -> str:
        """Return what a row is called that is not there to name itself."""
        return str(object_id)

    def url(self, object_id: Any) -> str:
        """Return the page of a row, empty without one."""
        return ""

    def list_changed(self, record: RollbackRecord, *, limit: int) -> Sequence[Any]:
        """Return the rows with a page that a roll-back changed, at most so many."""
        return ()


class TableRollback(RollbackKind):
    """A kind that remembers by itself what was before, and plans for itself what becomes of its rows."""

    @abstractmethod
    def plan(
        self,
        entries: Entries,
        *,
        writer: str,
        since: datetime,
        now: datetime,
        lock: bool,
    ) -> KindPlan:
        """Return what undoing these entries of its acts, oldest first, would do.

        `lock` keeps the rows until the transaction ends. Raises Invalid beyond MAX_ROWS, except for an import.
        """

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        """Return what undoing a roll-back would do: rows that no one changed since get back their state before it."""
        return KindPlan({})


class RecordRollback(TableRollback):
    """Records of what was decided or traded: none of their acts is undone, and a roll-back names them as unchanged.

    `record_name` is what one is called, with its `id`.
    """

    model: ClassVar[Any]
    record_name: ClassVar[Label]
    writes: ClassVar[Mapping[str, str]] = {}
    effects: ClassVar[Sequence[Effect]] = ()

    def plan(
        self,
        entries: Entries,
        *,
        writer: str,
        since: datetime,
        now: datetime,
        lock: bool,
    ) -> KindPlan:
        rows = self.model.objects.filter(actor=writer, created_at__gte=since).order_by("pk")
        found = rows.values_list("pk", "owner_id")[:MAX_ROWS]
        return KindPlan({}, [UnchangedRow(UnchangedReason.RECORD, pk, owner_id) for pk, owner_id in found])

    def title(self, object_id: Any) -> str:
        return str(self.record_name) % {"id": object_id}


class ChangesRollback(RollbackKind):
    """A kind whose changes are recorded: `kernel/changes` plans and moves its rows, with those of the others like it.

    `page` is the URL name of a row's page, `category` the column that is shown with it. The first of `effects` is about
    rows that the writer made. One `of_runs` takes part for writers whose acts are runs; `changes` is the kind of rows
    where another roll-back has its name.
    """

    page: ClassVar[str]
    category: ClassVar[str] = ""
    of_runs: ClassVar[bool] = False
    changes: ClassVar[str] = ""

    @property
    def facet(self) -> Changes:
        return changes_of()[self.changes or self.name]

    def made_by(self, entries: Entries) -> dict[Any, str]:
        """Return what the rows are called that these entries made, each with its key, empty once it is gone."""
        made = [entry.details["id"] for entry in entries if self.writes[entry.tool_call] == self.effects[0].name]
        name, keys = self.facet.id_column, dict.fromkeys(made, "")
        for ids in slices(made):
            rows = self.facet.model.objects.filter(**{f"{name}__in": ids})
            keys |= {each: str(pk) for each, pk in rows.values_list(name, "pk")}
        return keys

    @abstractmethod
    def effect_of(self, state: State, target: State) -> str:
        """Return the effect of a roll-back that leads a row from one state to another."""

    def part_of(self, plan: Plan, *, gone: Iterable[Any] = (), is_undo: bool = False) -> KindPlan:
        """Return what of a plan is about this kind, in the shape of the others, with rows that are `gone`."""
        steps: dict[str, list[Step]] = {effect.name: [] for effect in self.effects}
        for step in plan.steps:
            if step.kind == self.facet.name:
                states = (step.after, step.before) if is_undo else (step.before, step.after)
                steps[self.effect_of(*states)].append(step)
        unchanged = [
            UnchangedRow(
                stay.reason,
                getattr(stay.row, self.facet.id_column, stay.key),
                getattr(stay.row, "owner_id", None),
                stay.since.actor if stay.since else "",
            )
            for stay in plan.stays
            if stay.kind == self.facet.name
        ]
        unchanged += [UnchangedRow(UnchangedReason.GONE, each) for each in gone]
        return KindPlan(steps, unchanged)

    def apply(self, record: RollbackRecord, plan: KindPlan) -> Mapping[Any, Mapping[str, Any]]:
        """Return what the audit entries say: the rows are moved already."""
        ids: dict[Any, list[Any]] = {}
        for steps in plan.steps.values():
            for step in steps:
                ids.setdefault(step.owner_id, []).append(getattr(step.row, self.facet.id_column))
        return {owner_id: {self.audit_key: own, "count": len(own)} for owner_id, own in ids.items()}

    def show_steps(self, steps: Sequence[Any], plan: KindPlan, *, reader: Any) -> Sequence[PlanRow]:
        rows = [masked_for(reader, step.row) for step in steps]
        return [
            PlanRow(
                str(row), row.owner_id, self.url(getattr(row, self.facet.id_column)), getattr(row, self.category, "")
            )
            for row in rows
        ]

    def title(self, object_id: Any) -> str:
        return stored_kinds()[self.name].title(object_id)

    def url(self, object_id: Any) -> str:
        return reverse(self.page, args=[object_id])

    def list_changed(self, record: RollbackRecord, *, limit: int) -> Sequence[Any]:
        changes = Change.objects.filter(set=record.change_set, kind=self.facet.name).order_by("pk")
        rows = self.facet.load(changes.values_list("key", flat=True)[:limit]).values()
        return [getattr(row, self.facet.id_column) for row in rows]


def rollback_kinds() -> tuple[TableRollback | ChangesRollback, ...]:
    """Return every kind, in the order in which the apps list them."""
    return tuple(load("rollbacks").values())


def written_acts() -> dict[str, str]:
    """Return the acts of the audit log that a roll-back undoes, with the effect of each."""
    return {act: effect for kind in rollback_kinds() for act, effect in kind.writes.items()}


def list_effects() -> list[Effect]:
    """Return every effect in the order of pages: what writers did, what follows of it, and that rows stay."""
    effects = [effect for kind in rollback_kinds() for effect in kind.effects]
    return [*sorted(effects, key=lambda effect: effect.follows), UNCHANGED_EFFECT]


def too_many_rows() -> Invalid:
    """Return the refusal of a roll-back that is too large for one transaction."""
    detail = _("That is more than %(most)s rows. Choose a later moment, or delete them in steps from their list.")
    return Invalid(detail % {"most": f"{MAX_ROWS:,}"}, code="too_many")
