"""The closed vocabularies of the learning loop. Sources: S2 (structured dedup), decisions (indicators, kinds)."""

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


HORIZON_HOURS = {
    Timeframe.INTRADAY: 24,
    Timeframe.SHORT: 168,
    Timeframe.MEDIUM: 720,
    Timeframe.LONG: 2160,
}
"""The window in which a timeframe is judged."""


class Indicator(StrEnum):
    """What a methodology may look at."""

    RSI = "rsi"
    MACD = "macd"
    SMA = "sma"
    EMA = "ema"
    MOVING_AVERAGE_CROSS = "moving_average_cross"
    BOLLINGER = "bollinger"
    ATR = "atr"
    ADX = "adx"
    STOCHASTIC = "stochastic"
    ICHIMOKU = "ichimoku"
    SUPERTREND = "supertrend"
    FIBONACCI = "fibonacci"
    SUPPORT_RESISTANCE = "support_resistance"
    BREAKOUT = "breakout"
    VWAP = "vwap"
    VOLUME = "volume"
    OBV = "obv"
    ORDER_BOOK = "order_book"
    OPEN_INTEREST = "open_interest"
    FUNDING_RATE = "funding_rate"
    BASIS = "basis"
    LIQUIDATIONS = "liquidations"
    WHALE_FLOW = "whale_flow"
    EXCHANGE_FLOW = "exchange_flow"
    MVRV = "mvrv"
    SOPR = "sopr"
    NUPL = "nupl"
    TVL = "tvl"
    ACTIVE_ADDRESSES = "active_addresses"
    STABLECOIN_SUPPLY = "stablecoin_supply"
    FEAR_GREED = "fear_greed"
    SOCIAL_VOLUME = "social_volume"
    NEWS_SENTIMENT = "news_sentiment"
    EARNINGS = "earnings"
    PE_RATIO = "pe_ratio"
    DIVIDEND_YIELD = "dividend_yield"
    BOOK_VALUE = "book_value"
    YIELD_CURVE = "yield_curve"
    INTEREST_RATES = "interest_rates"
    INFLATION = "inflation"
    DXY = "dxy"
    EMPLOYMENT = "employment"
    SEASONALITY = "seasonality"
    CORRELATION = "correlation"


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
    REWORDED = "reworded"


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


class Uncounted(StrEnum):
    """Why a case does not count for a methodology that it hints at; empty when it does."""

    OTHER_DIRECTION = "other_direction"
    BACKDATED = "backdated"
    NO_INSTANCE_PRICE = "no_instance_price"
    LONGER_THAN_TIMEFRAME = "longer_than_timeframe"
    OVERLAPS = "overlaps"
    LOW_EVIDENCE = "low_evidence"


class PreferenceDimension(StrEnum):
    """What a learned preference is about."""

    RISK_LIMIT = "risk_limit"
    ASSET_UNIVERSE = "asset_universe"
    CHAIN = "chain"
    VENUE = "venue"
    TIMEFRAME = "timeframe"
    STYLE = "style"
    LANGUAGE = "language"
    NOTIFICATION = "notification"


class PreferenceKind(StrEnum):
    """How binding a preference is; a hard constraint limits what the agent may do."""

    SOFT_PREFERENCE = "soft_preference"
    HARD_CONSTRAINT = "hard_constraint"


class PreferenceState(StrEnum):
    """How far a preference got; only an active one is read by agents."""

    PROPOSED = "proposed"
    ACTIVE = "active"
    REJECTED = "rejected"
    ARCHIVED = "archived"


class PreferenceSource(StrEnum):
    """Who proposed a preference first."""

    USER = "user"
    AGENT = "agent"
    MINED = "mined"
    IMPORTED = "imported"


class LearningUse(StrEnum):
    """What a turn did with a learning."""

    STORED = "stored"
    MERGED = "merged"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    IGNORED = "ignored"


class ReviewOutcome(StrEnum):
    """What came of the review of a turn."""

    SHORT = "short"
    FAILED = "failed"
    BELOW = "below"
    STORED = "stored"
    MERGED = "merged"
    HELD = "held"
    INVALID = "invalid"
    SHADOW = "shadow"
    NOT_ASKED = "not_asked"


class Rating(StrEnum):
    """What a committee decides on a ticker."""

    BUY = "buy"
    HOLD = "hold"
    SELL = "sell"


class InstitutionState(StrEnum):
    """How far an institution run got; only `done` has a decision."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class InstitutionPhase(StrEnum):
    """The six phases of an institution run, in order."""

    ANALYSTS = "analysts"
    DEBATE = "debate"
    RESEARCH = "research"
    TRADE = "trade"
    RISK = "risk"
    DECISION = "decision"


class LadderWindow(StrEnum):
    """When a decision is looked at again. `lazy` and `manual` are snapshots: no counter moves by them."""

    DAY = "1d"
    WEEK = "7d"
    MONTH = "30d"
    QUARTER = "90d"
    HALF_YEAR = "180d"
    YEAR = "365d"
    LAZY = "lazy"
    MANUAL = "manual"


class MissingInput(StrEnum):
    """What the roles of an institution run had to do without."""

    NEWS_UNSET = "news_unset"
    NEWS_FAILED = "news_failed"
    NEWS_NONE = "news_none"
    NEWS_WITHHELD = "news_withheld"
    ONCHAIN_UNSET = "onchain_unset"
    ONCHAIN_FAILED = "onchain_failed"
    ONCHAIN_NONE = "onchain_none"
    ONCHAIN_WITHHELD = "onchain_withheld"
    PRICE_OLD = "price_old"
    PRICES_SHORT = "prices_short"
    METHODS_NONE = "methods_none"
    RETROSPECT_NONE = "retrospect_none"
