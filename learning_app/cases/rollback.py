"""Trading cases when their writer is rolled back: they stay, and the roll-back says so. Source: P-07."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.cases.models import CASE_KIND, TradingCase
from minara_site.kernel.rollback import (
    MAX_ROWS,
    Entries,
    KindPlan,
    PlanRow,
    RollbackRecord,
    TableRollback,
    UnchangedRow,
)
from minara_site.kernel.unchanged import UnchangedReason


class CaseRollback(TableRollback):
    """Trading cases: no act of theirs is undone."""

    name = CASE_KIND
    label = gettext_lazy("Trading cases")
    writes: ClassVar = {}
    effects = ()
    audit_key, record_key = "cases", "case"

    def plan(
        self,
        entries: Entries,
        *,
        writer: str,
        since: datetime,
        now: datetime,
        lock: bool,
    ) -> KindPlan:
        cases = TradingCase.objects.filter(actor=writer, created_at__gte=since).order_by("pk")
        found = cases.values_list("pk", "owner_id")[:MAX_ROWS]
        return KindPlan(
            {},
            [UnchangedRow(UnchangedReason.RECORD, pk, owner_id) for pk, owner_id in found],
        )

    def plan_undo(self, record: RollbackRecord, *, lock: bool) -> KindPlan:
        return KindPlan({})

    def apply(
        self,
        record: RollbackRecord,
        plan: KindPlan,
    ) -> Mapping[int, Mapping[str, Any]]:
        return {}

    def show_steps(
        self,
        steps: Sequence[Any],
        plan: KindPlan,
        *,
        reader: Any,
    ) -> Sequence[PlanRow]:
        return ()

    def title(self, object_id: Any) -> str:
        return _("trading case %(id)d") % {"id": object_id}

    def url(self, object_id: Any) -> str:
        return reverse("cases:one", args=[object_id])
