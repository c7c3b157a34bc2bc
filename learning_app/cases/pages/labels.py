"""Trading cases in words: what became of one, and whether it counts for a methodology that was shown with it."""

from django.conf import settings
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from learning_app.cases.models import OWNER, CaseHint, TradingCase
from learning_app.methodologies.core.wilson import wilson_lower_bound
from learning_app.methodologies.models import LifecycleEvent
from learning_app.vocabulary import OutcomeState
from minara_site.web.filters import Text

OUTCOMES: dict[OutcomeState, Text] = {
    OutcomeState.PENDING: pgettext_lazy("case", "Pending"),
    OutcomeState.CONFIRMED_GOOD: gettext_lazy("Confirmed good"),
    OutcomeState.CONFIRMED_BAD: gettext_lazy("Confirmed bad"),
    OutcomeState.INCONCLUSIVE: gettext_lazy("Inconclusive"),
    OutcomeState.EXPIRED: gettext_lazy("Expired"),
}
SHAPES: dict[OutcomeState, str] = {
    OutcomeState.PENDING: "pending",
    OutcomeState.CONFIRMED_GOOD: "active",
    OutcomeState.CONFIRMED_BAD: "failed",
    OutcomeState.INCONCLUSIVE: "retired",
    OutcomeState.EXPIRED: "expired",
}


def credit_label(
    hint: CaseHint,
    case: TradingCase,
    event: LifecycleEvent | None,
) -> str:
    """Return whether a hint got the outcome of its case, and if not, why; `event` is that outcome."""
    if hint.credited_at:
        by_word = case.outcome_state == OutcomeState.PENDING
        credited = _("credited: an operator stated the outcome") if by_word else _("credited")
        return (
            _("%(credited)s, %(bounds)s") % {"credited": credited, "bounds": bounds_label(event)} if event else credited
        )
    if case.backdated:
        return _("counts nowhere: recorded too late")
    if hint.methodology.direction != case.direction:
        return _("shown, other direction")
    if case.outcome_state == OutcomeState.PENDING:
        return _("gets the outcome when the window is over")
    if case.judged_by == OWNER:
        return _("counts nowhere: judged by the owner's own price")
    return _("counts nowhere: no clear outcome")


def bounds_label(event: LifecycleEvent) -> str:
    """Return the bound of a methodology before and after an outcome: "0.584 then 0.591"."""
    used, right = (event.times_used or 1) - 1, (event.times_correct or 0) - bool(event.details.get("correct"))
    before = wilson_lower_bound(right, used) if used else settings.MINARA.initial_confidence
    return _("%(before)s then %(after)s") % {"before": bound_label(before), "after": bound_label(event.confidence)}


def bound_label(bound: float | None) -> str:
    """Return a bound in [0, 1] with three digits: "0.584"."""
    return f"{bound or 0:.3f}"


def judged_label(case: TradingCase) -> str:
    """Return whose prices judged a case, and what that means."""
    if case.judged_by == OWNER:
        return _("prices of its owner; it counts for no methodology")
    return _("prices of this instance") if case.judged_by else ""


def why_unjudged(case: TradingCase) -> str:
    """Return why a case says neither right nor wrong; empty when it does."""
    if case.outcome_state == OutcomeState.INCONCLUSIVE:
        band = f"{settings.MINARA.noise_band_pct:g}"
        return _("The move is inside the noise band of %(band)s %%: too small to tell skill from luck.") % {
            "band": band
        }
    if case.outcome_state == OutcomeState.EXPIRED:
        return _("No price was known within a week after the window.")
    return _("Prices judge the case when its window is over.") if case.outcome_state == OutcomeState.PENDING else ""
