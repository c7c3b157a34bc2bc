"""Learnings when their writer is rolled back: what it stored is deleted, the guidance it edited is as before. P-07."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.models import Learning
from learning_app.learnings.services.change import mark_deleted, write_guidance
from minara_site.kernel.rollback import (
    MAX_ROWS,
    Effect,
    Entries,
    KindPlan,
    PlanRow,
    RollbackKind,
    RollbackRecord,
    UnchangedRow,
    too_many_rows,
)
from minara_site.kernel.unchanged import UnchangedReason

STORED, EDITED = "learning", "learning_guidance"


@dataclass(frozen=True, slots=True)
class LearningStep:
    """One learning of a plan, as it is before."""

    uid: str
    version: int


class LearningRollback(RollbackKind):
    """Learnings. The mark of a roll-back stands in `deleted_by` or `edited_by` until it is undone or another acts."""

    name = LEARNING_KIND
    label = gettext_lazy("Learnings")
    writes: ClassVar = {"learning_stored": STORED, "learning_edited": EDITED}
    effects = (
        Effect(
            STORED,
            label,
            gettext_lazy("deleted, restorable like others"),
            gettext_lazy("restored"),
        ),
        Effect(
            EDITED,
            gettext_lazy("Guidance of learnings"),
            gettext_lazy("back to the text before"),
            gettext_lazy("the edited text again"),
            column=gettext_lazy("Guidance"),
        ),
    )
    audit_key, record_key = "learnings", "learning"

    def plan(
        self,
        entries: Entries,
        *,
        writer: str,
        since: datetime,
        now: datetime,
        lock: bool,
    ) -> KindPlan:
        if len(entries) > MAX_ROWS:
            raise too_many_rows()
        written = list(dict.fromkeys(entry.details["id"] for entry in entries))
        stored = {entry.details["id"] for entry in entries if self.writes[entry.tool_call] == STORED}
        rows = load_rows(Q(uid__in=written), lock=lock)
        steps: dict[str, list[LearningStep]] = {STORED: [], EDITED: []}
        unchanged = [UnchangedRow(UnchangedReason.GONE, uid) for uid in written if uid not in rows]
        for row in rows.values():
            step = LearningStep(row.uid, row.version)
            if row.deleted_at:
                unchanged.append(
                    UnchangedRow(
                        UnchangedReason.MOVED_SINCE,
                        row.uid,
                        row.owner_id,
                        row.deleted_by,
                    )
                )
            elif row.edited_by not in ("", writer):
                unchanged.append(
                    UnchangedRow(
                        UnchangedReason.EDITED_SINCE,
                        row.uid,
                        row.owner_id,
                        row.edited_by,
                    )
                )
            else:
                steps[STORED if row.uid in stored else EDITED].append(step)
        return KindPlan(steps, unchanged, rows)

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        mark = mark_of(record)
        rows = load_rows(Q(deleted_by=mark) | Q(edited_by=mark), lock=lock)
        steps: dict[str, list[LearningStep]] = {STORED: [], EDITED: []}
        for row in rows.values():
            steps[STORED if row.deleted_by == mark else EDITED].append(LearningStep(row.uid, row.version))
        return KindPlan(steps, rows=rows)

    def apply(
        self,
        record: RollbackRecord,
        plan: KindPlan,
    ) -> Mapping[int, Mapping[str, Any]]:
        is_undo = record.undoes is not None
        by_owner: dict[int, list[str]] = {}
        for effect, steps in plan.steps.items():
            for step in steps:
                row = plan.rows[step.uid]
                if effect == STORED:
                    mark_deleted(
                        row,
                        by="" if is_undo else mark_of(record),
                        actor=record.actor,
                        now=record.at,
                    )
                else:
                    by = record.undoes.writer if is_undo else mark_of(record)
                    write_guidance(row, row.guidance_before, actor=by, now=record.at)
                by_owner.setdefault(row.owner_id, []).append(row.uid)
        return {owner_id: {self.audit_key: uids, "count": len(uids)} for owner_id, uids in by_owner.items()}

    def show_steps(
        self,
        steps: Sequence[Any],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        rows = [plan.rows[step.uid] for step in steps]
        for row in rows:
            if row.owner_id != reader.pk:
                row.mask()
        return [
            PlanRow(
                f"{row.name}: {row.trigger}",
                row.owner_id,
                self.url(row.uid),
            )
            for row in rows
        ]

    def title(self, object_id: Any) -> str:
        return _("learning %(id)s") % {"id": object_id}

    def url(self, object_id: Any) -> str:
        return reverse("learnings:one", args=[object_id])

    def list_changed(self, record: RollbackRecord, *, limit: int) -> Sequence[Any]:
        mark = mark_of(record)
        rows = Learning.objects.filter(Q(deleted_by=mark) | Q(edited_by=mark)).order_by("pk")
        return list(rows.values_list("uid", flat=True)[:limit])


def mark_of(record: RollbackRecord) -> str:
    """Return the mark of a roll-back, or of the one that this record undoes."""
    return f"rollback:{(record.undoes or record).pk}"


def load_rows(wanted: Q, *, lock: bool) -> dict[str, Learning]:
    """Return learnings by uid, in the order in which every writer locks."""
    rows = Learning.objects.filter(wanted).order_by("pk")
    return {row.uid: row for row in (rows.select_for_update(of=("self",)) if lock else rows)}
