"""Trading cases in words: what became of one, and whether it counts for a methodology that was shown with it."""

from typing import NamedTuple

from django.conf import settings
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from learning_app.cases.models import OWNER, UNFORMED, CaseHint, TradingCase
from learning_app.cases.selectors import find_place
from learning_app.methodologies.core.wilson import wilson_lower_bound
from learning_app.methodologies.models import LifecycleEvent
from learning_app.vocabulary import OutcomeState, Uncounted
from minara_site.kernel.market.outcome import Gap
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


GAPS: dict[Gap, Text] = {
    Gap.NO_ENTRY: gettext_lazy("No price lies in its window: its market was closed, or no price was stored."),
    Gap.LONG_CANDLE: gettext_lazy("A price at one end is that of a candle longer than the window."),
    Gap.LATE_ENTRY: gettext_lazy("Its first price came too long after the window began."),
    Gap.LATE_EXIT: gettext_lazy("The first price after the window came too long after its end."),
    Gap.SHORT_SPAN: gettext_lazy("Its two prices are less than half the window apart."),
    Gap.LONG_SPAN: gettext_lazy("Its two prices are more than twice the window apart."),
}
WHY: dict[str, Text] = {
    Uncounted.OTHER_DIRECTION: gettext_lazy("it goes another way than the methodology"),
    Uncounted.BACKDATED: gettext_lazy("recorded too late"),
    Uncounted.NO_INSTANCE_PRICE: gettext_lazy("the instance had no price of its asset"),
    Uncounted.LONGER_THAN_TIMEFRAME: gettext_lazy("its window is longer than the methodology's timeframe"),
    Uncounted.OVERLAPS: gettext_lazy("its window overlaps that of a case that counts"),
    Uncounted.LOW_EVIDENCE: gettext_lazy(
        "the owner's other cases speak against the methodology, those of others for it"
    ),
    UNFORMED: gettext_lazy("a job has not placed it yet"),
}


class Credit(NamedTuple):
    """Whether a case counts for a methodology, and if not why; where the words end with a case, `other` is its id."""

    words: Text
    other: int | None = None


def credit_of(hint: CaseHint, event: LifecycleEvent | None = None) -> Credit:
    """Return whether a case counts for a hinted methodology; `event` is the outcome that it was credited with."""
    case, (is_counted, other) = hint.case, find_place(hint)
    if hint.credited_at:
        words = _("counts") if hint.word is None or case.is_clear else _("an operator's word counts")
        return Credit(f"{words}{_(', ')}{bounds_label(event)}" if event else words)
    if is_counted and case.outcome_state == OutcomeState.PENDING:
        return Credit(_("counts once prices have judged it"))
    if is_counted:
        is_owners = case.judged_by == OWNER
        return Credit(
            _("counts nothing: the owner's own prices judged it")
            if is_owners
            else _("counts nothing: no clear outcome")
        )
    if hint.block_id:
        return Credit(_("the same bet as"), other)
    why = _("its window overlaps that of") if other else str(WHY[hint.why])
    scope = _("counts for its owner only: %(why)s") if hint.own_block_id else _("does not count: %(why)s")
    return Credit(scope % {"why": why}, other)


def bounds_label(event: LifecycleEvent) -> str:
    """Return the bound of a methodology before and after an outcome, or its reversal: "0.584 then 0.591"."""
    sign = -1 if "reverses" in event.details else 1
    used = (event.times_used or 0) - sign
    right = (event.times_correct or 0) - sign * bool(event.details.get("correct"))
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
    if case.gap:
        return str(GAPS[Gap(case.gap)])
    if case.outcome_state == OutcomeState.INCONCLUSIVE:
        band = f"{settings.MINARA.noise_band_pct:g}"
        return _("The move is inside the noise band of %(band)s %%: too small to tell skill from luck.") % {
            "band": band
        }
    if case.outcome_state == OutcomeState.EXPIRED:
        return _("No price judged it within a week after its window, or after the recording of a replay.")
    return _("Prices judge the case when its window is over.") if case.outcome_state == OutcomeState.PENDING else ""
