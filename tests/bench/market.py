"""How fast it is known what something cost: one look-up among a million candles, beside the bare statement."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from minara_site.access.models import User
from minara_site.kernel.core.assets import TICKERS
from minara_site.kernel.market import statements
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.models import PriceBar
from minara_site.kernel.market.selectors import find_price, list_newest, list_quotes
from minara_site.kernel.market.services import record_points
from tests.bench.figures import Figure, percentile, timed

BARS, FEW = 1_000_000, 20_000
SYMBOLS = sorted(TICKERS)[:20]
MINUTES = 5
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
LOOK_UPS, WARM = 3_000, 200
MAX_MS = 1.0
TOLERANCE = timedelta(hours=24)

MANY = """
    INSERT INTO price_bars (owner_id, symbol, interval_seconds, opens_at, closes_at, open, high, low, close, volume,
                            source, recorded_at, is_demo)
    WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < %s)
    SELECT NULL, %s, {seconds}, {opens}, {closes}, 100 + n %% 37, 140 + n %% 37, 90, 100 + n %% 41, n, 'bench', {opens},
           {no} FROM numbers
"""


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Build the candles by SQL, then look prices up for nobody, and for an owner who posted some."""
    each = (FEW if small else BARS) // len(SYMBOLS)
    build(each)
    owner = User.objects.get(is_default=True)
    post_some(owner, each)
    dice = random.Random(7)
    moments = [
        (dice.choice(SYMBOLS), FIRST + timedelta(minutes=dice.randint(MINUTES, each * MINUTES)))
        for _ in range(LOOK_UPS // (10 if small else 1))
    ]
    rows = PriceBar.objects.count()
    figures = [look_ups(name, owner_id, moments, rows) for name, owner_id in (("nobody", None), ("an owner", owner.pk))]
    return [*figures, *whole(each, rows)]


def build(each: int) -> None:
    """Write so many candles of each symbol."""
    seconds = MINUTES * 60
    if connection.vendor == "sqlite":
        moment = "strftime('%%Y-%%m-%%d %%H:%%M:%%S', '2026-01-01', '+' || ({n} * {seconds}) || ' seconds')"
    else:
        moment = "timestamptz '2026-01-01 00:00:00+00' + ({n} * {seconds}) * interval '1 second'"
    opens, closes = (moment.format(n=n, seconds=seconds) for n in ("n", "(n + 1)"))
    statement = MANY.format(
        seconds=seconds,
        opens=opens,
        closes=closes,
        no="0" if connection.vendor == "sqlite" else "false",
    )
    with connection.cursor() as cursor:
        for symbol in SYMBOLS:
            cursor.execute(statement, [each, symbol])
        cursor.execute("ANALYZE")


def post_some(owner: Any, each: int) -> None:
    """Let an owner post prices of their own."""
    dice = random.Random(5)
    places = dice.sample(range(each), min(each, 500))
    for symbol in SYMBOLS[:2]:
        points = [
            Point(symbol, FIRST + timedelta(minutes=MINUTES * place + 1), Decimal(dice.randint(90, 120)))
            for place in places
        ]
        later = FIRST + timedelta(minutes=MINUTES * (each + 1))
        record_points(
            points=points,
            owner_id=owner.pk,
            source="bench",
            actor="bench",
            now=max(later, timezone.now()),
        )


def look_ups(name: str, owner_id: int | None, moments: list[tuple[str, datetime]], rows: int) -> Figure:
    """Measure the look-up, and beside it the same statement through the driver."""
    parts = statements.parts_for(owner_id)
    statement = statements.newest_statement(parts)
    raw = connection.connection.cursor()
    marks = statement.replace("%s", "?") if connection.vendor == "sqlite" else statement

    def ours(symbol: str, at: datetime) -> None:
        assert find_price(symbol, at=at, owner_id=owner_id, tolerance=TOLERANCE)

    def bare(arguments: list[Any]) -> None:
        raw.execute(marks, arguments)
        assert raw.fetchall()

    for symbol, at in moments[:WARM]:
        ours(symbol, at)
    spent, reference = [], []
    for symbol, at in moments:
        arguments = statements.newest_arguments(symbol, owner_id, [(at - TOLERANCE, at)])
        spent.append(timed(lambda: ours(symbol, at)) * 1000)  # noqa: B023
        reference.append(timed(lambda: bare(arguments)) * 1000)  # noqa: B023
    p95 = percentile(spent, 0.95)
    return Figure(
        name=f"a price at a moment for {name}, {rows:,} candles, p95",
        value=p95,
        unit="ms",
        bound=f"under {MAX_MS:g}",
        ok=p95 < MAX_MS,
        reference=f"p50 {percentile(spent, 0.5):.3f} ms; the bare statement p50 {percentile(reference, 0.5):.3f},"
        f" p95 {percentile(reference, 0.95):.3f} ms on {connection.vendor}",
    )


def whole(each: int, rows: int) -> list[Figure]:
    """Measure a chart of the whole span, and where every symbol stands."""
    until = FIRST + timedelta(minutes=MINUTES * each)
    chart = [
        timed(
            lambda: list_quotes(
                SYMBOLS[0],
                since=FIRST,
                until=until,
                owner_id=None,
                most=300,
            )
        )
        for _ in range(20)
    ]
    newest = [timed(lambda: list_newest(now=until)) for _ in range(20)]
    return [
        Figure(
            "a chart of 300 prices over the whole span, p50",
            percentile(chart, 0.5) * 1000,
            "ms",
            reference=f"{rows:,} candles",
        ),
        Figure(
            f"the newest price of {len(SYMBOLS)} symbols, p50",
            percentile(newest, 0.5) * 1000,
            "ms",
            reference=f"{rows:,} candles",
        ),
    ]
