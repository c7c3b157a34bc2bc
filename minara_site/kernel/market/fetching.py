"""Fetching candles from a source: from where the stored ones end, page by page, so much in one run and no more."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from minara_site.kernel.errors import MinaraError, Unavailable
from minara_site.kernel.events import prices_recorded, send_after_commit
from minara_site.kernel.jobs.services import Claim, report_progress
from minara_site.kernel.market.adapters import PriceSource
from minara_site.kernel.market.selectors import find_newest_close
from minara_site.kernel.market.services import SLICE_ROWS, Counts, Series, store_bars
from minara_site.kernel.market.sources import Pair

PAGES_OF_A_PAIR = 10  # in one run; the next goes on from there
FIRST_FETCH = timedelta(days=30)

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Fetched:
    """What came of each pair, and what went wrong with which."""

    counts: dict[str, Counts] = field(default_factory=dict)
    problems: dict[str, MinaraError] = field(default_factory=dict)

    def raise_problem(self) -> None:
        """Raise what went wrong, first what waiting may help; nothing when all is well."""
        waiting = [error for error in self.problems.values() if isinstance(error, Unavailable)]
        for error in (*waiting, *self.problems.values()):
            raise error


def fetch_pairs(
    *,
    source: PriceSource,
    pairs: Sequence[Pair],
    interval_seconds: int,
    now: datetime,
    actor: str,
    since: datetime | None = None,
    claim: Claim | None = None,
) -> Fetched:
    """Fetch what has closed by `now` of each pair, from `since` or where the stored candles end; store it.

    A pair that fails does not keep the others back: read `problems`, or call `raise_problem`.
    """
    fetched = Fetched()
    try:
        for done, pair in enumerate(pairs):
            report_progress(claim, done, len(pairs))
            series = Series(pair.symbol, interval_seconds, source.label, actor)
            fetched.counts[pair.symbol] = Counts()
            try:
                fetch_pair(
                    source,
                    pair,
                    series,
                    fetched,
                    since=since or start_of(series, now),
                    now=now,
                )
            except MinaraError as error:
                fetched.problems[pair.symbol] = error
                log.warning(
                    "prices_not_fetched",
                    symbol=pair.symbol,
                    code=error.problem_code,
                )
    finally:
        changed = tuple(sorted(symbol for symbol, counts in fetched.counts.items() if counts.written))
        if changed:
            log.info("prices_fetched", symbols=changed)
            send_after_commit(prices_recorded, symbols=changed, owner_id=None)
    return fetched


def fetch_pair(
    source: PriceSource,
    pair: Pair,
    series: Series,
    fetched: Fetched,
    *,
    since: datetime,
    now: datetime,
) -> None:
    """Fetch and store one pair, page by page. Raises what the source raises; the pages before stand."""
    length = timedelta(seconds=series.interval_seconds)
    for _page in range(PAGES_OF_A_PAIR):
        if since + length > now:
            return
        page = source.fetch_bars(
            pair.spelling,
            interval_seconds=series.interval_seconds,
            since=since,
            most=SLICE_ROWS,
        )
        closed = [bar for bar in page if bar.opens_at + length <= now]
        if not closed:
            return
        fetched.counts[pair.symbol] += store_bars(series, closed, now=now)
        since = closed[-1].opens_at + length


def start_of(series: Series, now: datetime) -> datetime:
    """Return where the stored candles end; without any, so long ago that today's decisions can be judged."""
    newest = find_newest_close(series.symbol, interval_seconds=series.interval_seconds)
    return newest or now - FIRST_FETCH
