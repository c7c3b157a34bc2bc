"""What a turn did with the learnings that it was offered moves their counters. Source: S2 (feedback loop)."""

from datetime import datetime

from django.db.models import F

from learning_app.learnings.core.review import has_failed
from learning_app.learnings.core.steps import is_adopted
from learning_app.learnings.models import Learning, SuggestionLogEntry, TurnLearning
from learning_app.vocabulary import LearningUse
from minara_site.kernel.conversations.models import Turn

MAX_OFFERS = 50  # suggestions calls of one turn


def count_offers(turn: Turn, *, now: datetime) -> dict[LearningUse, int]:
    """Count for each learning that the turn was offered whether it was used, and with what success.

    Used are steps that the turn took in their order; a use ends what ignoring took. Guidance alone
    cannot be told from ignored: it moves nothing.
    Needs a transaction.
    """
    success = LearningUse.FAILED if has_failed(turn.tool_calls, is_completed=turn.completed) else LearningUse.SUCCEEDED
    uses: dict[LearningUse, list[int]] = {
        LearningUse.SUCCEEDED: [],
        LearningUse.FAILED: [],
        LearningUse.IGNORED: [],
    }
    rows = Learning.objects.live().filter(owner_id=turn.session.owner_id, pk__in=list_offered(turn))
    for row in rows.order_by("pk").select_for_update(of=("self",)):
        if is_adopted(row.tool_sequence, turn.tool_calls):
            uses[success].append(row.pk)
        elif row.tool_sequence:
            uses[LearningUse.IGNORED].append(row.pk)
    used_at = {"last_used_at": turn.created_at, "ignored_count": 0}
    moved = Learning.objects.filter
    moved(pk__in=uses[LearningUse.SUCCEEDED]).update(success_count=F("success_count") + 1, **used_at)
    moved(pk__in=uses[LearningUse.FAILED]).update(failure_count=F("failure_count") + 1, **used_at)
    moved(pk__in=uses[LearningUse.IGNORED]).update(ignored_count=F("ignored_count") + 1)
    TurnLearning.objects.bulk_create(
        TurnLearning(
            turn=turn,
            learning_id=pk,
            use=use,
            at=now,
        )
        for use, ids in uses.items()
        for pk in ids
    )
    return {use: len(ids) for use, ids in uses.items()}


def list_offered(turn: Turn) -> set[int]:
    """Return the learnings that the session was offered between the turn before and this one."""
    before = Turn.objects.filter(session_id=turn.session_id, sequence=turn.sequence - 1)
    since = before.values_list("created_at", flat=True).first() or turn.session.created_at
    calls = SuggestionLogEntry.objects.filter(
        session_id=turn.session_id,
        at__gte=since,
        at__lte=turn.created_at,
    )
    offered = calls.order_by("-at").values_list("offered", flat=True)[:MAX_OFFERS]
    return {number for numbers in offered for number in numbers}
