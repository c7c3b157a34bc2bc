"""What was recorded before one bet counted once is formed into blocks and judged anew: the job of migration 0015."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from learning_app.cases.models import UNFORMED, CaseHint, TradingCase
from learning_app.cases.services.places import place_hints
from learning_app.cases.services.rejudge import judge_due_controls, rejudge_changed
from learning_app.cases.services.settle import settle
from learning_app.court.services.evidence import JUDGED_ANEW
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.services.lifecycle import Move, apply_moves, lock_rows
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.vocabulary import LifecycleKind, OutcomeState, Uncounted
from minara_site.access.models import ApiKey
from minara_site.kernel.db import update_rows
from minara_site.kernel.jobs.models import JobRun, RunState

ANEW = "learning.judge_anew"
ACTOR = f"job:{ANEW}"
OPERATOR = "operator"
BATCH = 500
FORMED = ("block_id", "own_block_id", "why", "own_why", "met_case", "own_met_case", "credited_at", "word")


def form_old(*, now: datetime) -> int:
    """Form the hints that are older than blocks, in the order of their cases; return how many cases. Safe to repeat."""
    keys = ApiKey.objects.values_list("prefix", "scopes")
    operators = {f"key:{prefix}" for prefix, scopes in keys if OPERATOR in scopes}
    unformed = CaseHint.objects.filter(case=OuterRef("pk"), why=UNFORMED)
    formed = 0
    while batch := list(TradingCase.objects.filter(Exists(unformed)).order_by("pk")[:BATCH]):
        for case in batch:
            case.is_instances = case.is_instances or case.actor in operators
            case.place_window()
        with transaction.atomic():
            form(batch, now=now)
        formed += len(batch)
    return formed


def form(cases: Sequence[TradingCase], *, now: datetime) -> None:
    """Reverse what cases counted, place their hints, and count anew. An operator's word of an open one stands."""
    of_case = {case.pk: case for case in cases}
    rows = CaseHint.objects.filter(case__in=of_case, why=UNFORMED).select_related("methodology")
    hints = list(rows.order_by("case_id", "position"))
    lock_rows(hint.methodology_id for hint in hints)
    update_rows(TradingCase, ("is_instances", "window_ends_at"), cases)
    events = LifecycleEvent.objects.filter(case_id__in=of_case, kind=LifecycleKind.OUTCOME_RECORDED).order_by("pk")
    counted = {(event.methodology_id, event.case_id): event for event in events}
    reversals = []
    for hint in hints:
        hint.case = of_case[hint.case_id]
        event = counted.get((hint.methodology_id, hint.case_id))
        if hint.credited_at is None or event is None:
            continue
        is_correct = bool(event.details["correct"])
        if hint.case.outcome_state == OutcomeState.PENDING:
            hint.word = is_correct
            hint.why = hint.own_why = Uncounted.NO_INSTANCE_PRICE
        else:
            hint.credited_at = None
            reversal = NewOutcome(hint.methodology_id, is_correct, hint.case_id, reverses=event.pk, asks=False)
            reversals.append(reversal)
    place_hints([hint for hint in hints if hint.word is None])
    update_rows(CaseHint, FORMED, hints)
    if reversals:
        apply_outcomes(reversals, actor=ACTOR, now=now)
    settle(of_case, actor=ACTOR, now=now)


def demote_unproven(*, now: datetime) -> int:
    """Take out of prompts what is not at the bar by what counts once; return how many. Operators get the list.

    Only before the job has succeeded once: later what is in prompts may be below the bar, as long as the rule lets it.
    """
    if JobRun.objects.filter(job=ANEW, state=RunState.SUCCEEDED).exists():
        return 0
    with transaction.atomic():
        numbers = Methodology.objects.filter(quarantine=0).values_list("pk", flat=True)
        fallen = [row for row in lock_rows(numbers).values() if not row.is_at_bar]
        moves = [Move(row, LifecycleKind.DEMOTED, {"quarantine": 1}, {JUDGED_ANEW: 1}) for row in fallen]
        apply_moves(moves, actor=ACTOR, now=now)
    return len(fallen)


def judge_anew(*, now: datetime) -> dict[str, Any]:
    """Form and judge anew what was recorded before one bet counted once. It does nothing a second time."""
    formed = form_old(now=now)
    rejudged = rejudge_changed(now=now)
    known = sum(judge_due_controls(now=now))
    return {"formed": formed, "rejudged": rejudged, "controls": known, "demoted": demote_unproven(now=now)}
