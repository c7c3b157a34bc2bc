"""A model judges graduated methodologies by their new cases; the third flag in a row quarantines. Source: S2 (audit).

It can raise quarantine and nothing else, of a fifth of what is in prompts in a pass: what it quarantined leaves by the
next outcome that finds it at the bar, or an operator's release. A flag on a methodology that was right in most of its
new cases is kept, and not counted.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import islice

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Value
from django.db.models.functions import Coalesce

from learning_app.capabilities import METHODOLOGY_VERDICTS
from learning_app.cases.core.judging import (
    FLAG,
    FLAGS_TO_QUARANTINE,
    MAX_TOKENS,
    SYSTEM,
    MethodologyVerdict,
    is_last_flag,
    reason_of,
    render_review,
)
from learning_app.cases.models import CONCLUSIVE, CaseHint, TradingCase, VerdictState
from learning_app.cases.services.asking import CHANGED, IN_SHADOW, Pass, ask_each, describe_cases
from learning_app.court.services.evidence import MARK_LOST
from learning_app.methodologies.core import METHODOLOGY_KIND, subject_of
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.selectors import STATE_KINDS
from learning_app.methodologies.services.lifecycle import Move, apply_moves, lock_rows
from learning_app.vocabulary import LifecycleKind, OutcomeState, QuarantinedBy
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.services import delete_shadows, record_shadow
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.gateway import Answer, AnswerInvalid, Question, ask

TASK = "learning.verdicts"
MAX_JUDGED = 50  # methodologies in a pass; the next one goes on
MAX_CASES = 20  # the newest of a methodology
FLAGGED, RECOVERING, QUARANTINED = "flagged", "recovering", "quarantined_by_judge"
UNCOUNTED = "uncounted"
"""What the event of a flag says that prices contradict."""
MIN_CONTRADICTING, SHARE_IN_A_PASS = 3, 5
BEFORE_ALL = datetime(1970, 1, 1, tzinfo=UTC)
ASKED_FIELDS = (
    *("name", "methodology", "evidence", "asset_class", "direction", "primary_signal", "timeframe", "indicators"),
    *("confidence", "times_used", "times_correct"),
)


def judge_graduated(run: Pass) -> None:
    """Ask about graduated methodologies with new cases, and keep what comes of it."""
    rows = list(islice(list_unjudged(mode_of(METHODOLOGY_VERDICTS), now=run.now), MAX_JUDGED))
    most = max(1, Methodology.objects.graduated().count() // SHARE_IN_A_PASS)
    ask_each(run, METHODOLOGY_VERDICTS, rows, partial(judge, most=most))


def list_unjudged(mode: Mode, *, now: datetime) -> Iterator[Methodology]:
    """Yield graduated methodologies with cases credited since their verdict, those first that waited longest.

    In shadow, which leaves no verdict, since they were last asked about; what the guard refuses now is left out.
    """
    last = "verdict__asked_at" if mode is Mode.SHADOW else "verdict__judged_at"
    since = Coalesce(OuterRef(last), Value(BEFORE_ALL))
    new = new_hints(now=now).filter(methodology=OuterRef("pk"), credited_at__gt=since)
    graduated = Methodology.objects.graduated().filter(Exists(new), is_demo=False).select_related("verdict")
    for row in graduated.order_by(F("verdict__asked_at").asc(nulls_first=True), "pk").iterator(chunk_size=MAX_JUDGED):
        if not find_refused(METHODOLOGY_KIND, [row]):
            yield row


def new_hints(*, now: datetime) -> "QuerySet[CaseHint]":
    """Return the hints that moved a counter by now."""
    return CaseHint.objects.filter(
        credited_at__lte=now,
        case__outcome_state__in=CONCLUSIVE,
        case__is_demo=False,
    )


def judge(run: Pass, row: Methodology, *, most: int) -> str:
    """Ask about one methodology and keep the verdict; return what came of it. Raises what `ask` raises.

    `most` is how many a pass quarantines; the next flag finds the others.
    """
    now = run.now
    try:
        answer = ask(question_about(row, now=now))
    except AnswerInvalid:
        record_asked(row, now=now)
        raise
    record_asked(row, now=now)
    mode, verdict = mode_of(METHODOLOGY_VERDICTS), answer.value.verdict
    reason = reason_of(
        verdict,
        "" if guard.judge(answer.value.reason).is_held else answer.value.reason,
    )
    if mode is Mode.SHADOW:
        store_shadow_result(row, answer, reason, now=now)
        return IN_SHADOW
    with transaction.atomic():
        current = lock_rows([row.pk]).get(row.pk)
        if mode is Mode.OFF or current is None or state_of(current) != state_of(row):
            return CHANGED
        details = {UNCOUNTED: 1} if verdict == FLAG and is_contradicted(row, now=now) else {}
        is_flagged_thrice = not details and is_last_flag(verdict, earlier_verdicts(current))
        is_last = is_flagged_thrice and run.counts[QUARANTINED] < most
        moves = [Move(current, LifecycleKind.REFLECTION_ADJUSTED, details=details)]
        if is_last:
            columns = {"quarantine": 1, "quarantined_by": QuarantinedBy.JUDGE.value}
            moves.append(Move(current, LifecycleKind.REQUANTIZED_BY_JUDGE, columns))
        apply_moves(moves, actor=run.actor, now=now, reason=reason)
        if is_last or not is_flagged_thrice:  # else the next pass asks again
            VerdictState.objects.filter(pk=row.pk).update(judged_at=now)
    return QUARANTINED if is_last else UNCOUNTED if details else FLAGGED if verdict == FLAG else RECOVERING


def is_contradicted(row: Methodology, *, now: datetime) -> bool:
    """Say whether a methodology was right in more than half of its new cases, three or more."""
    outcomes = list(new_cases(row, now=now).values_list("case__outcome_state", flat=True))
    right = outcomes.count(OutcomeState.CONFIRMED_GOOD)
    return len(outcomes) >= MIN_CONTRADICTING and 2 * right > len(outcomes)


def new_cases(row: Methodology, *, now: datetime) -> "QuerySet[CaseHint]":
    """Return the hints of a methodology that moved its counters since its last verdict."""
    state: VerdictState | None = getattr(row, "verdict", None)
    since = (state.judged_at if state else None) or BEFORE_ALL
    return new_hints(now=now).filter(methodology=row, credited_at__gt=since)


def record_asked(row: Methodology, *, now: datetime) -> None:
    """Note that a model answered about a methodology, so that others are asked about first."""
    VerdictState.objects.update_or_create(methodology=row, defaults={"asked_at": now})


def question_about(row: Methodology, *, now: datetime) -> Question[MethodologyVerdict]:
    """Return what the model is asked about a methodology: its fields, its counts and its newest new cases."""
    ids = new_cases(row, now=now).order_by("-credited_at", "-case_id").values("case_id")[:MAX_CASES]
    return Question(
        category=Category.LEARNING,
        task=TASK,
        tier=Tier.FAST,
        system=SYSTEM,
        content=render_review(
            {name: getattr(row, name) for name in ASKED_FIELDS},
            describe_cases(list(TradingCase.objects.filter(pk__in=ids).order_by("pk"))),
        ),
        answer=MethodologyVerdict,
        max_tokens=MAX_TOKENS,
        subject=subject_of(row.uid),
    )


def state_of(row: Methodology) -> tuple[object, ...]:
    """Return what a verdict is about; when it differs, the answer is of another methodology."""
    return row.guarded_text, row.quarantine, row.held_at, row.times_used, row.times_correct


def earlier_verdicts(row: Methodology) -> list[str]:
    """Return the newest verdicts since the state of a methodology last changed, the newest first, as many as count."""
    kinds = (LifecycleKind.REFLECTION_ADJUSTED, *STATE_KINDS)
    events = LifecycleEvent.objects.filter(methodology=row, kind__in=kinds)
    counted = events.exclude(details__has_any_keys=[MARK_LOST, UNCOUNTED]).order_by("-id")
    found = counted.values_list("kind", "reason_text")[: FLAGS_TO_QUARANTINE - 1]
    return [reason if kind == LifecycleKind.REFLECTION_ADJUSTED else "" for kind, reason in found]


def store_shadow_result(
    row: Methodology,
    answer: Answer[MethodologyVerdict],
    reason: str,
    *,
    now: datetime,
) -> None:
    """Keep what would have been written, in place of what stood there of earlier cases, and write none of it."""
    with transaction.atomic():
        delete_shadows([subject_of(row.uid)])
        record_shadow(
            capability=METHODOLOGY_VERDICTS,
            subject=subject_of(row.uid),
            owner_id=None,
            decision={"verdict": answer.value.verdict, "reason": reason.partition(": ")[2]},
            model=answer.model,
            cost_usd=answer.cost_usd,
            now=now,
        )
