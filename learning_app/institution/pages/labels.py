"""Institution runs in words: states, ratings, phases, roles, fields, windows with their questions, what is missing."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from learning_app.vocabulary import InstitutionPhase, InstitutionState, LadderWindow, MissingInput, Rating
from minara_site.web.filters import Text

P, W, M = InstitutionPhase, LadderWindow, MissingInput

STATES: dict[InstitutionState, Text] = {
    InstitutionState.QUEUED: _("Waiting"),
    InstitutionState.RUNNING: _("Running"),
    InstitutionState.DONE: _("Decided"),
    InstitutionState.FAILED: _("Failed"),
    InstitutionState.CANCELLED: _("Cancelled"),
}
RATINGS: dict[Rating, Text] = {
    Rating.BUY: pgettext_lazy("rating", "Buy"),
    Rating.HOLD: pgettext_lazy("rating", "Hold"),
    Rating.SELL: pgettext_lazy("rating", "Sell"),
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
    "action": pgettext_lazy("trade", "Action"),
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
MISSING: dict[MissingInput, Text] = {
    M.NEWS_UNSET: _("News: MINARA_NEWS_URL is not set"),
    M.NEWS_FAILED: _("News: the source did not answer"),
    M.NEWS_NONE: _("News: the source has nothing of the last week"),
    M.NEWS_WITHHELD: _("News: the guard withheld some headlines"),
    M.ONCHAIN_UNSET: _("On-chain figures: MINARA_ONCHAIN_URL is not set"),
    M.ONCHAIN_FAILED: _("On-chain figures: the source did not answer"),
    M.ONCHAIN_NONE: _("On-chain figures: the source has nothing of the last week"),
    M.ONCHAIN_WITHHELD: _("On-chain figures: the guard withheld some"),
    M.PRICE_OLD: _("Prices: the newest one is old"),
    M.PRICES_SHORT: _("Prices: some earlier days are not known"),
    M.METHODS_NONE: _("Methodologies: none has graduated for assets like this"),
    M.RETROSPECT_NONE: _("Last decision: there is none on this ticker"),
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
