"""What the market did before decisions, out of the instance's candles. Source: S4 (regime tagging)."""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from learning_app.cases.models import TradingCase
from minara_site.kernel.market.regime import TREND_PCT, VOLATILITY_PCT, Regime, classify_regime
from minara_site.kernel.market.selectors import bars_of
from minara_site.kernel.market.statements import read_edges

REGIME_BARS = 100
FIVE_MINUTES = timedelta(minutes=5)


def find_regimes(cases: Sequence[TradingCase]) -> list[Regime]:
    """Return for each case what the market did over the last hundred candles before its decision. Few queries.

    S4's limits are those of candles of five minutes; a random walk moves with the root of its time, so that longer
    candles have limits as much wider.
    """
    newest = read_edges([(case.asset, case.decided_at) for case in cases], owner_id=None, is_first=False)
    alike: defaultdict[tuple[str, timedelta], list[int]] = defaultdict(list)
    for place, (case, candidates) in enumerate(zip(cases, newest, strict=True)):
        for candle in (each.quote for each in candidates if not each.quote.is_point):
            alike[case.asset, candle.length].append(place)
    found = [Regime.UNKNOWN] * len(cases)
    for (symbol, length), places in alike.items():
        wider = math.sqrt(length / FIVE_MINUTES)
        moments = {place: cases[place].decided_at for place in places}
        for place, closes in closes_before(symbol, length, moments):
            found[place] = classify_regime(
                closes,
                trend_pct=TREND_PCT * wider,
                volatility_pct=VOLATILITY_PCT * wider,
            )
    return found


def closes_before(
    symbol: str,
    length: timedelta,
    moments: dict[int, datetime],
) -> Iterator[tuple[int, list[Decimal]]]:
    """Yield for each of these moments the last hundred closes up to it; those near each other are read together."""
    bars = bars_of(symbol, int(length.total_seconds()), owner_id=None).filter(doubted_at__isnull=True)
    ordered = sorted(moments, key=lambda place: moments[place])
    apart = REGIME_BARS * length
    while ordered:
        first = moments[ordered[0]]
        near = [place for place in ordered if moments[place] <= first + apart]
        ordered = ordered[len(near) :]
        before = bars.filter(closes_at__lte=first).order_by("-closes_at")[:REGIME_BARS]
        after = bars.filter(closes_at__gt=first, closes_at__lte=moments[near[-1]]).order_by("closes_at")
        rows = [*reversed(before.values_list("closes_at", "close")), *after.values_list("closes_at", "close")]
        times = [at for at, _close in rows]
        for place in near:
            end = bisect_right(times, moments[place])
            yield place, [close for _at, close in rows[max(0, end - REGIME_BARS) : end]]
