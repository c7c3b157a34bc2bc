"""The review of turns: what good ones teach is stored. Source: S2 (review-engine). Failed and short turns never are."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from learning_app.capabilities import LEARNING_REVIEW
from learning_app.learnings.core import turn_origin
from learning_app.learnings.core.review import MAX_TOKENS, SYSTEM, ReviewResult, decide_unasked, render_turn
from learning_app.learnings.core.steps import taken_steps
from learning_app.learnings.models import TurnLearning, TurnReview
from learning_app.learnings.selectors import is_learning_on
from learning_app.learnings.services.count import count_offers
from learning_app.learnings.services.store import LearningDraft, store_learning
from learning_app.vocabulary import LearningUse, ReviewOutcome
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.errors import Invalid, Refused, Throttled, Unavailable
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.services import record_shadow
from minara_site.kernel.guard import core as guard
from minara_site.kernel.jobs.services import Claim, report_progress
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.gateway import Answer, AnswerInvalid, ModelUnavailable, Question, ask

REVIEW = "learnings.review_turns"
ACTOR = f"job:{REVIEW}"
WITHHELD = "(withheld)"

log = structlog.get_logger(__name__)


def review_turns(
    ids: Sequence[int],
    *,
    now: datetime,
    claim: Claim | None = None,
) -> dict[str, Any]:
    """Count what turns did with their suggestions, and review each once; return how many came out how.

    Running it again counts and stores nothing twice. Raises ModelUnavailable, so that it is tried again.
    """
    if not is_learning_on():
        return {"off": len(ids)}
    counts: Counter[str] = Counter()
    for done, turn_id in enumerate(ids, 1):
        turn = Turn.objects.select_related("session").filter(pk=turn_id).first()
        if turn is not None:
            counts[review_turn(turn, counts, now=now)] += 1
        report_progress(claim, done, len(ids))
    return dict(counts)


def review_turn(turn: Turn, counts: Counter[str], *, now: datetime) -> str:
    """Review one turn and return what came of it. Raises ModelUnavailable."""
    with transaction.atomic():
        review, is_new = TurnReview.objects.get_or_create(turn=turn, defaults={"at": now})
        if is_new:
            counts.update({use.value: number for use, number in count_offers(turn, now=now).items() if number})
    if review.outcome:
        return review.outcome
    unasked = decide_unasked(
        turn.tool_calls,
        is_completed=turn.completed,
        min_calls=settings.MINARA.minara_learning_min_calls,
    )
    if unasked is None and mode_of(LEARNING_REVIEW) is Mode.OFF:
        unasked = ReviewOutcome.NOT_ASKED
    if unasked is None:
        return ask_about(turn, now=now)
    TurnReview.objects.filter(turn=turn, outcome="").update(outcome=unasked, at=now)
    return unasked


def ask_about(turn: Turn, *, now: datetime) -> str:
    """Ask a model about a turn and keep what it says; return what came of it. Raises ModelUnavailable."""
    try:
        answer = ask(question_about(turn))
    except ModelUnavailable:
        raise
    except (AnswerInvalid, Unavailable, Throttled, Refused) as stop:
        log.warning("turn_not_reviewed", turn=turn.pk, reason=stop.problem_code)
        outcome = ReviewOutcome.INVALID if isinstance(stop, AnswerInvalid) else ReviewOutcome.NOT_ASKED
        TurnReview.objects.filter(turn=turn, outcome="").update(outcome=outcome, at=now)
        return outcome
    with transaction.atomic():
        review = TurnReview.objects.select_for_update().get(turn=turn)
        if review.outcome:
            return review.outcome
        review.outcome = keep(turn, answer, now=now)
        review.score, review.summary, review.at = answer.value.score, said_safely(answer.value.summary), now
        review.save()
    return review.outcome


def keep(turn: Turn, answer: Answer[ReviewResult], *, now: datetime) -> ReviewOutcome:
    """Store what a review suggests if its score is high enough; in shadow keep what would be. Needs a transaction."""
    result, mode = answer.value, mode_of(LEARNING_REVIEW)
    if mode is Mode.OFF:
        return ReviewOutcome.NOT_ASKED
    if mode is Mode.SHADOW:
        store_shadow_result(turn, answer, now=now)
        return ReviewOutcome.SHADOW
    if result.score < settings.MINARA.minara_learning_score_threshold:
        return ReviewOutcome.BELOW
    session = turn.session
    steps = taken_steps(
        [step.tool_name for step in result.suggested_tool_sequence],
        turn.tool_calls,
    )
    draft = LearningDraft(result.name, result.suggested_trigger, steps, result.guidance)
    used = TurnLearning.objects.filter(turn=turn, use=LearningUse.SUCCEEDED)
    try:
        stored = store_learning(
            owner_id=session.owner_id,
            draft=draft,
            actor=turn.actor or ACTOR,  # rolled back with whoever recorded the turn
            now=now,
            origin=turn_origin(session.pk, turn.sequence),
            counted=used.values_list("learning_id", flat=True),
        )
    except Invalid:
        return ReviewOutcome.INVALID
    use = LearningUse.STORED if stored.is_new else LearningUse.MERGED
    TurnLearning.objects.create(
        turn=turn,
        learning=stored.row,
        use=use,
        at=now,
    )
    if stored.row.held_at:
        return ReviewOutcome.HELD
    return ReviewOutcome.STORED if stored.is_new else ReviewOutcome.MERGED


def question_about(turn: Turn) -> Question[ReviewResult]:
    """Return what the model is asked about a turn."""
    return Question(
        category=Category.LEARNING,
        task=REVIEW,
        tier=Tier.FAST,
        system=SYSTEM,
        content=render_turn(
            user_message=turn.user_message,
            assistant_message=turn.assistant_message,
            calls=turn.tool_calls,
        ),
        answer=ReviewResult,
        max_tokens=MAX_TOKENS,
        subject=subject_of(turn),
        owner_id=turn.session.owner_id,
    )


def subject_of(turn: Turn) -> str:
    """Return how a turn is named in `llm_usage` and among the shadow decisions."""
    return f"turn:{turn.pk}"


def said_safely(text: str) -> str:
    """Return what the model said in one line, unless the guard refuses it."""
    return WITHHELD if guard.judge(text).is_held else redact_text(" ".join(text.split()))


def store_shadow_result(
    turn: Turn,
    answer: Answer[ReviewResult],
    *,
    now: datetime,
) -> None:
    """Keep what would have been stored, without words that the guard refuses."""
    result = answer.value
    said = {
        "name": result.name,
        "trigger": result.suggested_trigger,
        "guidance": result.guidance,
    }
    is_refused = guard.judge("\n".join(said.values())).is_held
    record_shadow(
        capability=LEARNING_REVIEW,
        subject=subject_of(turn),
        owner_id=turn.session.owner_id,
        decision={"score": result.score, **({"name": WITHHELD} if is_refused else said)},
        model=answer.model,
        cost_usd=answer.cost_usd,
        now=now,
    )
