"""An operator says that a methodology was right or wrong. Source: decisions (whose word counts)."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from learning_app.cases.models import CaseHint
from learning_app.cases.services.resolve import counts
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.selectors import get_methodology
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, invalid_field


def state_outcome(
    *,
    uid: str,
    is_correct: bool,
    case_id: int | None,
    actor: str,
    now: datetime,
) -> Methodology:
    """Count one outcome; of a case that hints at the methodology in its own direction, once.

    Raises NotFound, Invalid for a case that does not hint at it, Conflict when the case was counted before.
    """
    with transaction.atomic():
        row = get_methodology(uid, for_update=True)
        if case_id is not None:
            take_credit(row, case_id, now=now)
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


def take_credit(row: Methodology, case_id: int, *, now: datetime) -> None:
    """Mark the hint of a case as counted. The methodology is locked. Raises Invalid or Conflict."""
    hint = CaseHint.objects.filter(case=case_id, methodology=row).select_related("case").first()
    if hint is None or not hint.is_credited:
        problem = _("That case does not count for this methodology: it is unknown, came too late or goes another way.")
        raise invalid_field("case_id", problem)
    if hint.case.outcome_state != OutcomeState.PENDING and not counts(hint.case):
        problem = _("That case counts for nothing: it expired, said nothing clear, or its owner's own price closed it.")
        raise invalid_field("case_id", problem)
    if not CaseHint.objects.filter(pk=hint.pk, credited_at__isnull=True).update(credited_at=now):
        raise Conflict(_("This case was counted already. Nothing was changed."), code="counted")
