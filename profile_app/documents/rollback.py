"""Documents when their writer is rolled back: each says again what it said before that writer changed it. P-07."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy

from minara_site.kernel.core.diff import word_diff
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.rollback import (
    MAX_ROWS,
    Effect,
    Entries,
    KindPlan,
    PlanRow,
    RollbackRecord,
    TableRollback,
    UnchangedRow,
    too_many_rows,
)
from minara_site.kernel.unchanged import UnchangedReason
from profile_app.documents.core import Origin
from profile_app.documents.models import Document, DocumentRevision
from profile_app.documents.services import lock_documents, put_in_force

WRITTEN = "document"


@dataclass(frozen=True, slots=True)
class DocumentStep:
    """One document of a plan: the version in force, and the one whose text it is to say, 0 for none."""

    pk: int
    version: int
    target: int


class DocumentRollback(TableRollback):
    """Documents of every kind. The version that a roll-back makes has the roll-back as its actor."""

    name = "document"
    label = gettext_lazy("Agent files and custom prompts")
    writes = {"workspace_file_written": WRITTEN, "custom_prompt_written": WRITTEN}
    effects = (
        Effect(
            WRITTEN,
            label,
            gettext_lazy("back to the version before"),
            gettext_lazy("the later version again"),
            column=gettext_lazy("Agent files"),
        ),
    )
    audit_key, record_key = "documents", "document"

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
        written = dict.fromkeys(entry.details["id"] for entry in entries)
        rows, revisions = load_documents(written, lock=lock), load_revisions(written)
        steps, unchanged = [], [UnchangedRow(UnchangedReason.GONE, pk) for pk in written if pk not in rows]
        for pk, row in rows.items():
            found, target = revisions[pk], row.version
            while target and found[target].actor == writer and found[target].created_at >= since:
                target = found[target].replaced
            if target != row.version:
                steps.append(DocumentStep(pk, row.version, target))
            elif row.held_at:
                unchanged.append(UnchangedRow(UnchangedReason.WAITS, pk, row.owner_id))
            else:
                by = found[target].actor if target else ""
                unchanged.append(UnchangedRow(UnchangedReason.EDITED_SINCE, pk, row.owner_id, by))
        return KindPlan({WRITTEN: steps}, unchanged, rows)

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        made = DocumentRevision.objects.filter(actor=mark_of(record)).order_by("document_id", "number")
        numbers = {each.document_id: (each.number, each.replaced) for each in made}
        rows = load_documents(numbers, lock=lock)
        steps, unchanged = [], []
        for pk, row in rows.items():
            number, replaced = numbers[pk]
            if row.version == number:
                steps.append(DocumentStep(pk, number, replaced))
            else:
                unchanged.append(
                    UnchangedRow(
                        UnchangedReason.EDITED_SINCE,
                        pk,
                        row.owner_id,
                        row.actor,
                    )
                )
        return KindPlan({WRITTEN: steps}, unchanged, rows)

    def apply(
        self,
        record: RollbackRecord,
        plan: KindPlan,
    ) -> Mapping[int, Mapping[str, Any]]:
        by_owner: defaultdict[int, list[int]] = defaultdict(list)
        targets = load_targets(plan.steps[WRITTEN])
        for step in plan.steps[WRITTEN]:
            row = plan.rows[step.pk]
            content, target_actor = targets.get(step.pk, ("", ""))
            actor = target_actor if record.undoes else mark_of(record)
            put_in_force(
                row,
                content,
                origin=Origin.REVERT,
                actor=actor,
                now=record.at,
            )
            by_owner[row.owner_id].append(row.pk)
        return {owner_id: {self.audit_key: ids, "count": len(ids)} for owner_id, ids in by_owner.items()}

    def show_steps(
        self,
        steps: Sequence[Any],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        rows, targets = [], load_targets(steps)
        for step in steps:
            document, (target, _actor) = plan.rows[step.pk], targets.get(step.pk, ("", ""))
            texts = document.content, target
            if document.owner_id != reader.pk:
                texts = mask(texts[0]), mask(texts[1])
            kind: Any = stored_kinds()[document.kind]
            url = kind.url_of(document)
            rows.append(PlanRow(document.name, document.owner_id, url, changes=word_diff(*texts)))
        return rows

    def title(self, object_id: Any) -> str:
        return _("document %(id)s") % {"id": object_id}

    def url(self, object_id: Any) -> str:
        document = Document.objects.filter(pk=object_id).first()
        return stored_kinds()[document.kind].url(document.pk) if document else ""

    def list_changed(self, record: RollbackRecord, *, limit: int) -> Sequence[Any]:
        made = DocumentRevision.objects.filter(actor=mark_of(record)).order_by("document_id")
        return list(made.values_list("document_id", flat=True)[:limit])


def mark_of(record: RollbackRecord) -> str:
    """Return the actor of the versions that a roll-back made, or the one that this record undoes."""
    return f"rollback:{(record.undoes or record).pk}"


def load_documents(ids: Collection[int], *, lock: bool) -> dict[int, Document]:
    """Return documents by id, in the order in which every writer locks."""
    return lock_documents(ids) if lock else {row.pk: row for row in Document.objects.filter(pk__in=ids).order_by("pk")}


def load_revisions(ids: Collection[int]) -> dict[int, dict[int, DocumentRevision]]:
    """Return the versions of documents by number, without their texts. One query."""
    found: defaultdict[int, dict[int, DocumentRevision]] = defaultdict(dict)
    for each in DocumentRevision.objects.filter(document_id__in=ids).defer("content"):
        found[each.document_id][each.number] = each
    return found


def load_targets(steps: Sequence[DocumentStep]) -> dict[int, tuple[str, str]]:
    """Return by document what it says at the version that its step leads to, and who wrote it. One query."""
    wanted = {(step.pk, step.target) for step in steps}
    ids, numbers = zip(*wanted, strict=True) if wanted else ((), ())
    found = DocumentRevision.objects.filter(document_id__in=ids, number__in=numbers)
    return {row.document_id: (row.content, row.actor) for row in found if (row.document_id, row.number) in wanted}
