"""Methodologies when their writer is rolled back: they go into quarantine, and none is deleted. Source: trust P-07."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Q
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.models import LifecycleEvent, Methodology, RolledBackMethodology
from learning_app.methodologies.selectors import find_decisions
from learning_app.methodologies.services.events import new_event
from learning_app.vocabulary import LifecycleKind, QuarantinedBy
from minara_site.kernel.db import update_rows
from minara_site.kernel.rollback import (
    Effect,
    Entries,
    KindPlan,
    PlanRow,
    RollbackKind,
    RollbackRecord,
    UnchangedRow,
)
from minara_site.kernel.unchanged import UnchangedReason

CREATED = "methodology"


@dataclass(frozen=True, slots=True)
class MethodologyStep:
    """One methodology of a plan: where its quarantine goes, and the newest event that decided on it, 0 without one.

    `updated_at` is what an undo puts back, empty for the moment of the act.
    """

    uid: str
    quarantine: int
    quarantined_by: str
    event_id: int
    updated_at: str = ""


class MethodologyRollback(RollbackKind):
    """Methodologies, which belong to the instance. Cases that refer to them stay as they are."""

    name = METHODOLOGY_KIND
    label = gettext_lazy("Methodologies")
    writes: ClassVar = {"methodology_created": CREATED}
    import_acts = ("methodology_created",)
    effects = (
        Effect(
            CREATED,
            label,
            gettext_lazy("into quarantine, until an operator releases them"),
            gettext_lazy("back to where they were before"),
        ),
    )
    audit_key, record_key = "methodologies", "methodology"

    def plan(
        self,
        entries: Entries,
        *,
        writer: str,
        since: datetime,
        now: datetime,
        lock: bool,
    ) -> KindPlan:
        rows = load_rows(
            Q(uid__in=[entry.details["id"] for entry in entries]),
            lock=lock,
        )
        decided = find_decisions(row.pk for row in rows.values())
        steps = [
            MethodologyStep(
                row.uid,
                1,
                QuarantinedBy.OPERATOR.value,
                decided.get(row.pk, 0),
            )
            for row in rows.values()
            if row.quarantined_by != QuarantinedBy.OPERATOR
        ]
        return KindPlan({CREATED: steps}, rows=rows)

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        items = {item.methodology_id: item for item in RolledBackMethodology.objects.filter(rollback_id=record.pk)}
        rows = load_rows(Q(pk__in=items), lock=lock)
        decided = find_decisions(row.pk for row in rows.values())
        steps, unchanged = [], []
        for row in rows.values():
            item = items[row.pk]
            is_held_since = row.held_at is not None and not item.quarantine
            if decided.get(row.pk) != item.event_id or is_held_since:
                unchanged.append(UnchangedRow(UnchangedReason.CHANGED_SINCE, row.uid))
            else:
                before = item.updated_at.isoformat() if row.updated_at == record.at else ""
                steps.append(MethodologyStep(row.uid, item.quarantine, item.quarantined_by, item.event_id, before))
        return KindPlan({CREATED: steps}, unchanged, rows)

    def apply(
        self,
        record: RollbackRecord,
        plan: KindPlan,
    ) -> Mapping[None, Mapping[str, Any]]:
        rows, events, items = [], [], []
        for step in plan.steps[CREATED]:
            row = plan.rows[step.uid]
            was = {name: getattr(row, name) for name in ("quarantine", "quarantined_by", "updated_at")}
            items.append(RolledBackMethodology(rollback_id=record.pk, methodology=row, **was))
            row.quarantine, row.quarantined_by = step.quarantine, step.quarantined_by
            row.updated_at = parse_datetime(step.updated_at) if step.updated_at else record.at
            kind = LifecycleKind.QUARANTINED if row.quarantine else LifecycleKind.RELEASED
            details = {
                "rollback": (record.undoes or record).pk,
                **({} if record.undoes is None else {"undo": 1}),
            }
            events.append(
                new_event(
                    row,
                    kind,
                    actor=record.actor,
                    now=record.at,
                    details=details,
                )
            )
            rows.append(row)
        update_rows(Methodology, ("quarantine", "quarantined_by", "updated_at"), rows)
        LifecycleEvent.objects.bulk_create(events)
        for item, event in zip(items, events, strict=True):
            item.event_id = event.pk
        RolledBackMethodology.objects.bulk_create(items)
        return {None: {self.audit_key: [row.uid for row in rows], "count": len(rows)}} if rows else {}

    def show_steps(
        self,
        steps: Sequence[Any],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        rows = [plan.rows[step.uid] for step in steps]
        return [
            PlanRow(
                row.name,
                None,
                self.url(row.uid),
                row.asset_class,
            )
            for row in rows
        ]

    def title(self, object_id: Any) -> str:
        return _("methodology %(id)s") % {"id": object_id}

    def url(self, object_id: Any) -> str:
        return reverse("methodologies:one", args=[object_id])

    def list_changed(self, record: RollbackRecord, *, limit: int) -> Sequence[Any]:
        items = RolledBackMethodology.objects.filter(rollback_id=record.pk).order_by("methodology")
        return list(items.values_list("methodology__uid", flat=True)[:limit])


def load_rows(wanted: Q, *, lock: bool) -> dict[str, Methodology]:
    """Return methodologies by uid, in the order in which every writer locks."""
    rows = Methodology.objects.filter(wanted).order_by("pk")
    return {row.uid: row for row in (rows.select_for_update() if lock else rows)}
