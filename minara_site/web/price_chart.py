"""The price of an asset around a decision: its course, the window that was judged, and the two prices that decided.

Pure. Time runs evenly from left to right, so that a gap in the prices looks like one. Drawn twice, so that letters keep
their size on a phone (screens U-13); templates/parts/chart_price.html writes the SVG. Units are SVG user units.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from minara_site.web.charts import Frame, Spot, Tick, path, scale

PLAIN_DIGITS = 6
MARK_WIDTH = 86  # of a word above the field, with its gap
GRID_LINES = 4
BODY = 0.6  # of the time of a candle
Across = Callable[[datetime], float]
Level = tuple[str, float]
"""A price that a line across the field marks: its name and value."""


@dataclass(frozen=True, slots=True)
class PricePlace:
    """A price at a moment; `words` is how people read the moment."""

    at: datetime
    price: float
    words: str

    @property
    def number(self) -> str:
        return price_label(self.price)


@dataclass(frozen=True, slots=True)
class Candle:
    """The course of a price from `at` on for `length`."""

    at: datetime
    length: timedelta
    open: float
    high: float
    low: float
    close: float

    @property
    def numbers(self) -> list[str]:
        return [price_label(price) for price in (self.open, self.high, self.low, self.close)]


@dataclass(frozen=True, slots=True)
class Edge:
    """A moment that a line marks, and the word above it. `is_ahead`: it has not come yet."""

    at: datetime
    words: str
    is_ahead: bool = False


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An edge with its place; `anchor` is the class of its word, empty where it stands behind the line."""

    x: float
    word_x: float
    words: str
    anchor: str
    is_ahead: bool


@dataclass(frozen=True, slots=True)
class DrawnMark:
    """A price that decided: its place and letter."""

    x: float
    y: float
    letter: str
    title: str

    @property
    def baseline(self) -> float:
        return self.y + 3.6


@dataclass(frozen=True, slots=True)
class PriceDrawing(Frame):
    """The chart at one width: a line, or candles that went `up` and `down`."""

    line: str
    up: str
    down: str
    last: Spot
    grid: Sequence[Tick]
    days: Sequence[Tick]
    edges: Sequence[DrawnEdge]
    marks: Sequence[DrawnMark]
    entry: Tick | None
    levels: Sequence[Tick]

    @property
    def window_width(self) -> float:
        return self.edges[-1].x - self.edges[0].x

    @property
    def field_height(self) -> float:
        return self.bottom - self.top

    @property
    def word_line(self) -> float:
        """Return the base line of the words above the field."""
        return self.top - 12

    @property
    def edge_top(self) -> float:
        """Return where an edge begins, a little above the field."""
        return self.top - 8

    @property
    def price_label(self) -> float:
        """Return where the words of the prices begin."""
        return self.right + 8

    @property
    def day_label(self) -> float:
        """Return the base line of the words of time."""
        return self.height - 5


@dataclass(frozen=True, slots=True)
class PriceChart:
    """The course of a price around a decision. `candles`, or else `places`, are the rows of its table."""

    label: str
    places: Sequence[PricePlace]
    candles: Sequence[Candle]
    wide: PriceDrawing
    narrow: PriceDrawing


def price_chart(
    places: Sequence[PricePlace],
    label: str,
    *,
    window: tuple[Edge, Edge],
    entry: PricePlace | None,
    leave: PricePlace | None,
    letters: str = "DO",
    levels: Sequence[Level] = (),
    candles: Sequence[Candle] = (),
) -> PriceChart | None:
    """Return the chart of the prices, oldest first, as `candles` where there are some; None without prices.

    `entry` and `leave` are the prices that decided, marked with these letters; `levels` are other prices with their
    names. An end of the window that lies ahead is drawn dashed.
    """
    if not places:
        return None
    wide = draw(
        places,
        window,
        (entry, leave),
        letters,
        levels,
        candles=candles,
        width=690,
        height=300,
        right=624,
        days=5,
    )
    narrow = draw(
        places,
        window,
        (entry, leave),
        letters,
        levels,
        candles=candles,
        width=330,
        height=250,
        right=268,
        days=3,
    )
    return PriceChart(label, places, candles, wide, narrow)


def draw(
    places: Sequence[PricePlace],
    window: tuple[Edge, Edge],
    decisive: tuple[PricePlace | None, PricePlace | None],
    letters: str,
    levels: Sequence[Level],
    *,
    candles: Sequence[Candle],
    width: int,
    height: int,
    right: float,
    days: int,
) -> PriceDrawing:
    """Return the chart at one width; `days` is how many words of time fit below it."""
    left, top, bottom = 8.0, 34.0, height - 24.0
    known = [*places, *(place for place in decisive if place)]
    since = min(
        places[0].at,
        window[0].at,
        *(place.at for place in known),
        *(candle.at for candle in candles[:1]),
    )
    until = max(
        places[-1].at,
        window[1].at,
        *(place.at for place in known),
    )
    extremes = (price for candle in candles for price in (candle.low, candle.high))
    low, high = bounds([*(place.price for place in known), *(price for _name, price in levels), *extremes])

    def across(at: datetime) -> float:
        span = (until - since).total_seconds()
        return left if span <= 0 else left + (right - left) * ((at - since).total_seconds() / span)

    def spot(place: PricePlace) -> Spot:
        return Spot(
            across(place.at),
            scale(place.price, low, high, top, bottom),
            says(place),
        )

    def outline(candle: Candle) -> str:
        begin, end = across(candle.at), across(candle.at + candle.length)
        width, middle = max((end - begin) * BODY, 1.0), (begin + end) / 2
        prices = (candle.high, max(candle.open, candle.close), min(candle.open, candle.close), candle.low)
        highest, top_end, bottom_end, lowest = (scale(price, low, high, top, bottom) for price in prices)
        body = f"M{middle - width / 2:.1f} {top_end:.1f}h{width:.1f}V{bottom_end:.1f}h{-width:.1f}z"
        return f"M{middle:.1f} {highest:.1f}V{top_end:.1f}M{middle:.1f} {bottom_end:.1f}V{lowest:.1f}{body}"

    entry, _leave = decisive
    begin, end = (across(edge.at) for edge in window)
    is_before = begin - left > MARK_WIDTH  # else behind; in a short window the words of both ends stand apart
    marks = [
        DrawnMark(
            spot(place).x,
            spot(place).y,
            letter,
            says(place),
        )
        for place, letter in zip(decisive, letters, strict=True)
        if place
    ]
    return PriceDrawing(
        width=width,
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        line=path([spot(place) for place in places]),
        up="".join(outline(candle) for candle in candles if candle.close >= candle.open),
        down="".join(outline(candle) for candle in candles if candle.close < candle.open),
        last=spot(places[-1]),
        grid=[
            Tick(
                scale(price, low, high, top, bottom),
                price_label(price),
            )
            for price in steps(low, high)
        ],
        days=[Tick(spot(place).x, place.words) for place in spaced(places, across, (left, right), days)],
        edges=[
            place_edge(window[0], begin, before=is_before),
            place_edge(window[1], end, before=end - begin > MARK_WIDTH or (right - end < MARK_WIDTH and not is_before)),
        ],
        marks=marks,
        entry=Tick(spot(entry).y, price_label(entry.price)) if entry else None,
        levels=[Tick(scale(price, low, high, top, bottom), name) for name, price in levels],
    )


def bounds(prices: Sequence[float]) -> tuple[float, float]:
    """Return the range that is drawn: that of the prices, with a little room; a flat course stands in the middle."""
    low, high = min(prices), max(prices)
    room = (high - low) * 0.08 or abs(high) * 0.01 or 1.0
    return low - room, high + room


def steps(low: float, high: float) -> list[float]:
    """Return the prices of the lines behind the chart: round ones, about so many as GRID_LINES."""
    raw = (high - low) / GRID_LINES
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw)
    first = math.ceil(low / step)
    return [round(step * number, 10) for number in range(first, math.floor(high / step) + 1)]


def spaced(
    places: Sequence[PricePlace],
    across: Across,
    field: tuple[float, float],
    most: int,
) -> list[PricePlace]:
    """Return the places that get a word below them: at most so many, evenly over the field, none cut off."""
    left, right = field
    chosen: list[PricePlace] = []
    for number in range(most):
        aim = left + (right - left) * (number + 0.5) / most
        nearest = min(places, key=lambda place: abs(across(place.at) - aim))
        room = (right - left) / most * 0.9
        fits = left + room / 3 <= across(nearest.at) <= right - room / 4
        if fits and all(abs(across(nearest.at) - across(other.at)) >= room for other in chosen):
            chosen.append(nearest)
    return chosen


def place_edge(edge: Edge, x: float, *, before: bool) -> DrawnEdge:
    """Return an edge with its word before or behind it."""
    return DrawnEdge(
        x,
        x - 4 if before else x + 4,
        edge.words,
        "c-end" if before else "",
        edge.is_ahead,
    )


def price_label(price: float) -> str:
    """Return a price with as many digits as it needs: "61,204", "2.285", "0.00001234"."""
    if abs(price) >= 10_000:  # noqa: PLR2004 - five digits say enough
        return f"{price:,.0f}"
    return f"{price:,.{PLAIN_DIGITS}g}" if abs(price) >= 1 else f"{price:.4g}"


def says(place: PricePlace) -> str:
    """Return what a price says when pointed at."""
    return f"{place.words}: {price_label(place.price)}"
