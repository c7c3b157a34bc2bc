"""Institution runs in words: states, ratings, phases, roles, fields, windows with their questions."""

from django.utils.translation import gettext_lazy as _

from learning_app.vocabulary import InstitutionPhase, InstitutionState, LadderWindow, Rating
from minara_site.web.filters import Text

P, W = InstitutionPhase, LadderWindow

STATES: dict[InstitutionState, Text] = {
    InstitutionState.QUEUED: _("Waiting"),
    InstitutionState.RUNNING: _("Running"),
    InstitutionState.DONE: _("Decided"),
    InstitutionState.FAILED: _("Failed"),
    InstitutionState.CANCELLED: _("Cancelled"),
}
RATINGS: dict[Rating, Text] = {
    Rating.BUY: _("Buy"),
    Rating.HOLD: _("Hold"),
    Rating.SELL: _("Sell"),
}
PHASES: dict[InstitutionPhase, Text] = {
    P.ANALYSTS: _("Analysts"),
    P.DEBATE: _("Debate of bull and bear"),
    P.RESEARCH: _("Research plan"),
    P.TRADE: _("Trade proposal"),
    P.RISK: _("Debate of risk"),
    P.DECISION: _("Portfolio decision"),
}
ROLES: dict[str, Text] = {
    "fundamentals": _("Fundamentals analyst"),
    "sentiment": _("Sentiment analyst"),
    "news": _("News analyst"),
    "technical": _("Technical analyst"),
    "bull": _("Bull"),
    "bear": _("Bear"),
    "research_manager": _("Research manager"),
    "trader": _("Trader"),
    "aggressive": _("Aggressive voice"),
    "conservative": _("Conservative voice"),
    "neutral": _("Neutral voice"),
    "portfolio_manager": _("Portfolio manager"),
}
FIELDS: dict[str, Text] = {
    "stance": _("Stance"),
    "confidence": _("Confidence"),
    "summary": _("Summary"),
    "findings": _("Findings"),
    "missing": _("Missing"),
    "argument": _("Argument"),
    "points": _("Points"),
    "concedes": _("Concedes"),
    "recommendation": _("Recommendation"),
    "rationale": _("Rationale"),
    "steps": _("Steps"),
    "action": _("Action"),
    "entry": _("Entry"),
    "exit": _("Exit"),
    "verdict": _("Verdict"),
    "opinion": _("Opinion"),
    "conditions": _("Conditions"),
    "rating": _("Rating"),
    "horizon_days": _("Horizon in days"),
    "cases": _("Cases"),
    "base": _("Base case"),
    "bull": _("Bull case"),
    "bear": _("Bear case"),
    "cited": _("Cited methodologies"),
}
WINDOWS: dict[LadderWindow, Text] = {
    W.DAY: _("1 d"),
    W.WEEK: _("7 d"),
    W.MONTH: _("30 d"),
    W.QUARTER: _("90 d"),
    W.HALF_YEAR: _("180 d"),
    W.YEAR: _("365 d"),
    W.LAZY: _("next run"),
    W.MANUAL: _("by hand"),
}
DURABLE = _("Was the thesis durable?")
QUESTIONS: dict[LadderWindow, Text] = {
    W.DAY: _("Was the trigger valid?"),
    W.WEEK: _("Did the base case play out?"),
    W.MONTH: _("Was the horizon estimate right?"),
    W.QUARTER: DURABLE,
    W.HALF_YEAR: DURABLE,
    W.YEAR: DURABLE,
    W.LAZY: _("Looked back at by the next run on the ticker"),
    W.MANUAL: _("Looked back at by hand"),
}
VALUES: dict[str, Text] = {
    **{each.value: label for each, label in RATINGS.items()},
    "accept": _("accept"),
    "adjust": _("adjust"),
    "reject": _("reject"),
    "bullish": _("bullish"),
    "bearish": _("bearish"),
    "neutral": _("neutral"),
}
"""Values of fields that are codes."""
