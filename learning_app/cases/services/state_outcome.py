"""An operator says that a methodology was right or wrong. Source: decisions (whose word counts)."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from learning_app.cases.models import CaseHint
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.selectors import get_methodology
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.vocabulary import OutcomeState, Uncounted
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, invalid_field
from minara_site.kernel.market.moves import first_quotes
from minara_site.kernel.market.statements import EARLIEST


def state_outcome(
    *,
    uid: str,
    is_correct: bool,
    case_id: int | None,
    actor: str,
    now: datetime,
) -> Methodology:
    """Count one outcome; of an open case that hints at the methodology in its own direction, once.

    It stands until a price contradicts it. Raises NotFound, Invalid for a case that cannot count for it, Conflict when
    prices judge the case, or it was counted before.
    """
    with transaction.atomic():
        row = get_methodology(uid, for_update=True)
        if case_id is not None:
            take_word(row, case_id, is_correct=is_correct, now=now)
        changed = apply_outcomes(
            [NewOutcome(row.pk, is_correct, case_id)],
            actor=actor,
            now=now,
        )[row.pk]
        details = {
            "id": uid,
            "correct": is_correct,
            **({"case": case_id} if case_id else {}),
        }
        record_audit(
            now=now,
            actor=actor,
            tool_call="methodology_outcome_recorded",
            details=details,
        )
    return changed


def take_word(row: Methodology, case_id: int, *, is_correct: bool, now: datetime) -> None:
    """Keep what an operator says of a case. The methodology is locked. Raises Invalid or Conflict."""
    hint = CaseHint.objects.filter(case=case_id, methodology=row).select_related("case").first()
    if hint is None or hint.why in {Uncounted.OTHER_DIRECTION, Uncounted.BACKDATED, Uncounted.LONGER_THAN_TIMEFRAME}:
        problem = _("That case does not count for this methodology: it is unknown, came too late or goes another way.")
        raise invalid_field("case_id", problem)
    if hint.credited_at is not None:
        raise Conflict(_("This case was counted already. Nothing was changed."), code="counted")
    if hint.case.outcome_state != OutcomeState.PENDING:
        problem = _("That case is closed, and counts for nothing: its page says why.")
        raise invalid_field("case_id", problem)
    if first_quotes([(hint.case.asset, EARLIEST)], owner_id=None)[0]:
        problem = _("The instance has prices of this symbol: they judge the case when its window is over.")
        raise Conflict(problem, code="price_decides")
    hint.credited_at, hint.word = now, is_correct
    hint.save(update_fields=["credited_at", "word"])
