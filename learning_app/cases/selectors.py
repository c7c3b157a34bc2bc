"""Reads of trading cases."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from learning_app.cases.models import CASE_KIND, CaseHint, CaseQuerySet, CronRun, TradingCase
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.selectors import find_refused as find_refused_texts
from minara_site.kernel.ownership import Owner


def list_cases(*, owner: Owner) -> CaseQuerySet:
    """Return the cases of an owner with their hints, unordered."""
    rows: CaseQuerySet = TradingCase.objects.for_owner(owner).prefetch_related("hint_rows__methodology")
    return rows


def get_case(*, owner: Owner, case_id: int) -> TradingCase:
    """Return one case with its hints. Raises NotFound also for another owner's."""
    found: TradingCase | None = list_cases(owner=owner).filter(pk=case_id).first()
    if found is None:
        raise NotFound(_("There is no such trading case."))
    return found


def find_refused(cases: Sequence[TradingCase]) -> set[int]:
    """Return the ids of cases whose words no agent reads: held ones, and those that today's rules refuse."""
    held = {case.pk for case in cases if case.held_at}
    return held | find_refused_texts(CASE_KIND, [case for case in cases if case.pk not in held])


def hints_of(case: TradingCase) -> list[CaseHint]:
    """Return the hints of a case as they were shown."""
    return sorted(case.hint_rows.all(), key=lambda hint: hint.position)


def newest_run() -> CronRun | None:
    """Return the last heartbeat of the learning cron."""
    return CronRun.objects.order_by("-ended_at", "-pk").first()


def case_record(case: TradingCase, *, is_refused: bool) -> dict[str, Any]:
    """Return a case as API and tools answer it (contract); what the guard refuses is there without its words."""
    return {
        "id": case.pk,
        "asset": case.asset,
        "decision": "" if is_refused else case.decision,
        "direction": case.direction,
        "horizon_hours": case.horizon_hours,
        "outcome_state": case.outcome_state,
        "hints": [hint.methodology.uid for hint in hints_of(case)],
        "hint_hash": case.hint_hash,
        "attribution_model": case.attribution_model,
        "trade_ref": None if is_refused else case.trade_ref or None,
        "base_rate": case.base_rate,
        "regime": case.regime,
        "backdated": case.backdated,
        "judged_by": case.judged_by or None,
        "decided_at": case.decided_at,
        "window_ends_at": case.window_ends_at,
        "resolved_at": case.resolved_at,
        "pnl_pct": case.pnl_pct,
        "held": is_refused,
    }
