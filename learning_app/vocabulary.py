"""The closed vocabularies of the learning loop. Sources: S2 (structured dedup), decisions (indicators, lifecycle kinds)."""

from enum import StrEnum


class PrimarySignal(StrEnum):
    """What a methodology reads first."""

    MOMENTUM = "momentum"
    MEAN_REVERSION = "mean_reversion"
    TECHNICAL = "technical"
    FUNDAMENTAL = "fundamental"
    ON_CHAIN = "on_chain"
    SENTIMENT = "sentiment"
    MACRO = "macro"
    EVENT = "event"


class Timeframe(StrEnum):
    """How long a methodology looks ahead."""

    INTRADAY = "intraday"
    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


HORIZON_HOURS = {Timeframe.INTRADAY: 24, Timeframe.SHORT: 168, Timeframe.MEDIUM: 720, Timeframe.LONG: 2160}
"""The window in which a timeframe is judged."""

Indicator = StrEnum(  # type: ignore[misc]
    "Indicator",
    [
        (name.upper(), name)
        for name in (
            "rsi macd sma ema moving_average_cross bollinger atr adx stochastic ichimoku supertrend fibonacci"
            " support_resistance breakout vwap volume obv order_book open_interest funding_rate basis liquidations"
            " whale_flow exchange_flow mvrv sopr nupl tvl active_addresses stablecoin_supply fear_greed social_volume"
            " news_sentiment earnings pe_ratio dividend_yield book_value yield_curve interest_rates inflation dxy"
            " employment seasonality correlation"
        ).split()
    ],
)


class LifecycleKind(StrEnum):
    """What can happen to a methodology."""

    CREATED = "created"
    DEDUPLICATED = "deduplicated"
    GRADUATED = "graduated"
    DEMOTED = "demoted"
    REQUANTIZED_BY_JUDGE = "requantized_by_judge"
    QUARANTINED = "quarantined"
    RELEASED = "released"
    REFLECTION_ADJUSTED = "reflection_adjusted"
    SYNTHESIS_AUTO_DEMOTE = "synthesis_auto_demote"
    MARKET_STRESS_FREEZE = "market_stress_freeze"
    OUTCOME_RECORDED = "outcome_recorded"
    IMPORTED = "imported"


class QuarantinedBy(StrEnum):
    """Who holds a methodology in quarantine; what the rule holds, the rule lets go."""

    RULE = ""
    OPERATOR = "operator"
    SCAN = "scan"
    JUDGE = "judge"


class OutcomeState(StrEnum):
    """What became of a trading case."""

    PENDING = "pending"
    CONFIRMED_GOOD = "confirmed_good"
    CONFIRMED_BAD = "confirmed_bad"
    INCONCLUSIVE = "inconclusive"
    EXPIRED = "expired"
