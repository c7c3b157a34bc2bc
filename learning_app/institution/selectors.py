"""Reads of institution runs."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _

from learning_app.institution.core.ladder import DAYS
from learning_app.institution.models import (
    InstitutionOutcome,
    InstitutionReflection,
    InstitutionRoleOutput,
    InstitutionRun,
)
from learning_app.methodologies.models import Methodology
from learning_app.vocabulary import InstitutionPhase, InstitutionState, OutcomeState
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.ownership import Owner

OUTPUTS = Prefetch("outputs", queryset=InstitutionRoleOutput.objects.order_by("position"))
LADDER = Prefetch(
    "reflections",
    queryset=InstitutionReflection.objects.filter(window__in=list(DAYS)).order_by("due_at", "pk"),
)


def list_runs(*, owner: Owner) -> "QuerySet[InstitutionRun]":
    """Return the runs of an owner, unordered, with what their roles said and their ladders."""
    return InstitutionRun.objects.for_owner(owner).prefetch_related(OUTPUTS, LADDER)


def get_run(*, owner: Owner, uid: str) -> InstitutionRun:
    """Return one run. Raises NotFound also for another owner's."""
    return or_not_found(
        list_runs(owner=owner).filter(uid=uid).select_related("owner").first(), _("There is no such institution run.")
    )


def list_cited(run: InstitutionRun) -> list[Methodology]:
    """Return the methodologies that the decision of a run cites, in its order. One query."""
    found = {row.uid: row for row in Methodology.objects.filter(uid__in=run.cited)}
    return [found[uid] for uid in run.cited if uid in found]


def run_record(run: InstitutionRun) -> dict[str, Any]:
    """Return a run as the API answers it (contract)."""
    said = list(run.outputs.all())
    return {
        "id": run.uid,
        "ticker": run.ticker,
        "state": run.state,
        "error": run.error or None,
        "feeds": run.feeds,
        "missing": (run.inputs or {}).get("missing", []),
        "shown": (run.inputs or {}).get("methods", []),
        "phases": [
            {
                "name": phase,
                "outputs": [
                    {
                        "role": each.role,
                        "kind": each.kind,
                        "fields": each.fields,
                        "at": each.at,
                    }
                    for each in said
                    if each.phase == phase
                ],
            }
            for phase in InstitutionPhase
            if any(each.phase == phase for each in said)
        ],
        "decision": decision_record(run),
        "ladder": [rung_record(rung) for rung in run.reflections.all()],
        "calls": run.calls,
        "cost_usd": f"{run.cost_usd.normalize():f}",
        "created_at": run.created_at,
        "decided_at": run.decided_at,
        "ended_at": run.ended_at,
    }


def decision_record(run: InstitutionRun) -> dict[str, Any] | None:
    """Return the decision of a run, None before there is one."""
    if run.state != InstitutionState.DONE:
        return None
    return {
        "rating": run.rating,
        "confidence": run.confidence,
        "horizon_days": run.horizon_days,
        "cases": run.cases,
        "cited": run.cited,
    }


def rung_record(rung: InstitutionReflection) -> dict[str, Any]:
    """Return a standard window of the ladder."""
    is_scored = rung.outcome_state != OutcomeState.PENDING
    return {
        "window": rung.window,
        "due_at": rung.due_at,
        "score": rung.outcome_state if is_scored else None,
        "pnl_pct": rung.pnl_pct,
        "horizon_score": rung.horizon_state or None,
        "horizon_pnl_pct": rung.horizon_pnl_pct,
        "scored_at": rung.scored_at,
    }


def run_records(runs: Sequence[InstitutionRun]) -> list[dict[str, Any]]:
    """Return runs as the API answers them."""
    return [run_record(run) for run in runs]


def list_rows(owner: Owner) -> "QuerySet[InstitutionRun]":
    """Return the runs of an owner as lists show them: their ladders, and nothing that was read or said."""
    rows: QuerySet[InstitutionRun] = InstitutionRun.objects.for_owner(owner).defer("inputs", "cases")
    return rows.prefetch_related(LADDER)


def list_counted(run: InstitutionRun) -> list[tuple[int, str]]:
    """Return methodology and window of each outcome that the scores of a run counted, in order. One query."""
    rows = InstitutionOutcome.objects.filter(reflection__run=run).order_by("reflection__due_at", "pk")
    return list(rows.values_list("methodology_id", "window"))
