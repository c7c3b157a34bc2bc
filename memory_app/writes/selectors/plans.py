"""What rolling back a writer, or undoing that, would do: the plans of every kind together."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memory_app.writes.core.entries import IMPORT
from memory_app.writes.models import WriteRollback
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.changes.core import Plan
from minara_site.kernel.changes.models import Change, ChangeSet
from minara_site.kernel.changes.selectors import plan_undo
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.ownership import EVERYONE, lock_owners
from minara_site.kernel.rollback import (
    MAX_ROWS,
    UNCHANGED,
    ChangesRollback,
    KindPlan,
    RollbackKind,
    list_effects,
    rollback_kinds,
    too_many_rows,
    written_acts,
)

JOB = "job:"


@dataclass(frozen=True)
class RollbackPlan:
    """What a roll-back or its undo would do, kind by kind; `about` says of which writer or roll-back.

    `changes` is the part of the kinds whose changes are recorded, as it is carried out.
    """

    parts: Mapping[Any, KindPlan]
    about: tuple[str, ...]
    changes: Plan

    def __post_init__(self) -> None:
        """Raise Invalid for more rows than one roll-back takes."""
        if len(self.changes.steps) > MAX_ROWS:
            raise too_many_rows()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not any(steps for part in self.parts.values() for steps in part.steps.values())

    @property
    def has_more(self) -> bool:
        """Whether the next roll-back takes further rows of the same writer."""
        return any(part.has_more for part in self.parts.values())

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return how many rows each effect has, all of them named, and how many stay unchanged."""
        return {effect.name: len(self.items(effect.name)) for effect in list_effects()}

    @cached_property
    def sha256(self) -> str:
        """Return the hash that stands for this plan and what it is about, as 64 hex digits."""
        rows = [
            (
                effect,
                kind.name,
                astuple(item),
            )
            for effect in self.counts
            for kind, item in self.items(effect)
            if not isinstance(kind, ChangesRollback)
        ]
        return hashlib.sha256(json.dumps([self.about, rows, self.changes.sha256]).encode()).hexdigest()

    def items(self, effect: str) -> list[tuple[RollbackKind, Any]]:
        """Return the steps of an effect, or the unchanged rows, each with its kind."""
        return [
            (kind, item)
            for kind, part in self.parts.items()
            for item in (part.unchanged if effect == UNCHANGED else part.steps.get(effect, ()))
        ]


def preview_roll_back(
    *,
    writer: str,
    since: datetime,
    now: datetime,
    actor: str = "",
    owner: User | None = None,
    lock: bool = False,
) -> RollbackPlan:
    """Return what undoing everything that a writer wrote since a moment would do, to the rows of all or of one owner.

    `lock` keeps the rows until the transaction ends. Raises Invalid when that is more than one roll-back takes.
    """
    newest = entries_of(writer).filter(at__gte=since).order_by("at", "pk")
    newest = newest.filter(owner=owner) if owner else newest
    entries = list(newest.only("at", "actor", "owner_id", "tool_call", "details")[: MAX_ROWS + 1])
    if len(entries) > MAX_ROWS:
        raise too_many_rows()
    sets = sets_of(writer) if writer.startswith(IMPORT) else sets_of(writer).filter(at__gte=since)
    if lock:
        changed = Change.objects.filter(set__in=sets).values_list("owner", flat=True).distinct()
        lock_owners([*changed, *(entry.owner_id for entry in entries)])
    own = {kind: [entry for entry in entries if entry.tool_call in kind.writes] for kind in rollback_kinds()}
    made = {kind: kind.made_by(written) for kind, written in own.items() if isinstance(kind, ChangesRollback)}
    has_runs = writer.startswith(JOB) and sets.filter(run__isnull=False).exists()
    changes = plan_undo(
        sets,
        {kind.name: set(filter(None, keys.values())) for kind, keys in made.items() if keys},
        actor=actor,
        now=now,
        owner=owner or EVERYONE,
        kinds=[kind.facet.name for kind in made if has_runs or not kind.of_runs],
        lock=lock,
    )
    parts = {
        kind: kind.part_of(changes, gone=[each for each, key in made[kind].items() if not key])
        if isinstance(kind, ChangesRollback)
        else kind.plan(
            written,
            writer=writer,
            since=since,
            now=now,
            lock=lock,
        )
        for kind, written in own.items()
    }
    return RollbackPlan(parts, (writer, since.isoformat()), changes)


def preview_undo(
    record: WriteRollback,
    *,
    now: datetime | None = None,
    actor: str = "",
    lock: bool = False,
) -> RollbackPlan:
    """Return what undoing a roll-back would do: every row that no one changed since gets its state before it back."""
    changes = plan_undo([record.change_set_id], actor=actor or record.actor, now=now or record.at, lock=lock)
    parts = {
        kind: kind.part_of(changes, is_undo=True)
        if isinstance(kind, ChangesRollback)
        else kind.plan_undo(record, lock=lock)
        for kind in rollback_kinds()
    }
    return RollbackPlan(parts, ("undo", str(record.pk)), changes)


def find_first_write(writer: str) -> datetime | None:
    """Return since when a writer, or one run of an import, wrote or changed rows; None where it never did."""
    rows = (entries_of(writer), sets_of(writer))
    return min(filter(None, (each.order_by("at").values_list("at", flat=True).first() for each in rows)), default=None)


def sets_of(writer: str) -> "QuerySet[ChangeSet]":
    """Return what a writer, or one run of an import, changed; roll-backs are undone on their own."""
    if writer.startswith(IMPORT):
        return ChangeSet.objects.filter(run=writer.removeprefix(IMPORT))
    return ChangeSet.objects.filter(actor=writer, rollback=None)


def entries_of(writer: str) -> "QuerySet[AuditEntry]":
    """Return the entries of a writer: of an actor, or of one run of an import."""
    if writer.startswith(IMPORT):
        acts = [act for kind in rollback_kinds() for act in kind.import_acts]
        return AuditEntry.objects.filter(
            tool_call__in=acts,
            details__run=writer.removeprefix(IMPORT),
        )
    return AuditEntry.objects.filter(actor=writer, tool_call__in=written_acts())


def get_rollback(rollback_id: int) -> WriteRollback:
    """Return one roll-back. Raises NotFound."""
    records = WriteRollback.objects.select_related("undone_by", "undoes")
    return or_not_found(records.filter(pk=rollback_id).first(), _("There is no such roll-back."))
