"""What a market does over a window of candles: trend and volatility. Source: S4 (regime tagging). Pure."""

import math
from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from minara_site.kernel.market.outcome import change_pct

MIN_BARS = 12
TREND_PCT, VOLATILITY_PCT = 0.5, 0.4


class Regime(StrEnum):
    """The tags of S4. Unknown: the window is too small, or a close is no price."""

    TREND_UP_LOWVOL = "trend_up_lowvol"
    TREND_UP_HIVOL = "trend_up_hivol"
    TREND_DOWN_LOWVOL = "trend_down_lowvol"
    TREND_DOWN_HIVOL = "trend_down_hivol"
    CHOP_LOWVOL = "chop_lowvol"
    CHOP_HIVOL = "chop_hivol"
    UNKNOWN = "unknown"


def classify_regime(
    closes: Sequence[Decimal],
    *,
    trend_pct: float = TREND_PCT,
    volatility_pct: float = VOLATILITY_PCT,
) -> Regime:
    """Return the regime of closes in the order of time; the defaults are S4's for a hundred of five minutes.

    A trend is a change from the first to the last close of more than `trend_pct`, counted exactly. The volatility is
    high from a (sample) standard deviation of `volatility_pct` on, of the log returns from close to close.
    """
    if len(closes) < MIN_BARS or not all(close.is_finite() and close > 0 for close in closes):
        return Regime.UNKNOWN
    change = change_pct(closes[0], closes[-1])
    is_trend = abs(change) > Fraction(str(trend_pct))
    trend = "chop" if not is_trend else "trend_up" if change > 0 else "trend_down"
    returns = [later - earlier for earlier, later in pairwise([math.log(close) for close in closes])]
    mean = math.fsum(returns) / len(returns)
    variance = math.fsum((each - mean) ** 2 for each in returns) / (len(returns) - 1)
    volatility = "hivol" if 100 * math.sqrt(variance) >= volatility_pct else "lowvol"
    return Regime(f"{trend}_{volatility}")
