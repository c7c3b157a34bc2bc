"""Results day by day: where they stand, and below how far they are under their peak. And columns of either sign. Pure.

Drawn twice, so that letters keep their size on a phone (screens U-13); templates/parts/chart_equity.html writes the
SVG. Units are SVG user units.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from minara_site.web.charts import FLOOR, Frame, Spot, Tick, Value, closed, path, scale, tick_places
from minara_site.web.price_chart import bounds, steps

Words = Callable[[float], str]
FALL_GAP, FALL_HEIGHT = 14.0, 48.0  # between the two fields, and of the lower one


@dataclass(frozen=True, slots=True)
class EquityPoint:
    """Where results stood after a day, and the deepest fall of that day below the peak, at most 0."""

    day: date
    label: str
    value: float
    fall: float


@dataclass(frozen=True, slots=True)
class EquityDrawing(Frame):
    """The chart at one width; the lower field begins at `fall_top`."""

    line: str
    area: str
    fall_line: str
    fall_area: str
    last: Spot
    grid: Sequence[Tick]
    fall_ticks: Sequence[Tick]
    days: Sequence[Tick]
    fall_top: float
    notes: Sequence[Tick]

    @property
    def day_label(self) -> float:
        """Return the base line of the words of time."""
        return self.height - 5


@dataclass(frozen=True, slots=True)
class EquityChart:
    """The course of results, drawn wide and narrow; `rows` are those of its table."""

    label: str
    rows: Sequence[Value]
    wide: EquityDrawing
    narrow: EquityDrawing


def equity_chart(
    points: Sequence[EquityPoint],
    label: str,
    *,
    words: Words,
    fall_words: Words,
    notes: Mapping[date, str] = MappingProxyType({}),
) -> EquityChart | None:
    """Return the chart of days, oldest first, with `notes` at some of them; None without any."""
    if not points:
        return None
    rows = [
        Value(point.label, point.value, f"{words(point.value)} ({fall_words(point.fall)})") for point in points[::-1]
    ]
    wide, narrow = (
        draw(points, words, fall_words, notes, width=width, height=height, days=days)
        for width, height, days in ((588, 226, 5), (330, 220, 3))
    )
    return EquityChart(label, rows, wide, narrow)


def draw(
    points: Sequence[EquityPoint],
    words: Words,
    fall_words: Words,
    notes: Mapping[date, str],
    *,
    width: int,
    height: int,
    days: int,
) -> EquityDrawing:
    """Return the chart at one width; `days` is how many words of time fit below it."""
    left, right, top = 52.0, width - 10.0, 12.0
    end = height - FLOOR
    fall_top = end - FALL_HEIGHT
    bottom = fall_top - FALL_GAP
    low, high = bounds([point.value for point in points])
    deepest = min(point.fall for point in points)
    span = (points[-1].day - points[0].day).days
    places = [right if not span else left + (right - left) * (each.day - points[0].day).days / span for each in points]
    above = [
        Spot(x, scale(point.value, low, high, top, bottom), f"{point.label}: {words(point.value)}")
        for x, point in zip(places, points, strict=True)
    ]
    below = [
        Spot(x, scale(point.fall, deepest, 0, fall_top, end) if deepest else fall_top)
        for x, point in zip(places, points, strict=True)
    ]
    return EquityDrawing(
        width=width,
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        line=path(above),
        area=closed(above, bottom),
        fall_line=path(below),
        fall_area=closed(below, fall_top),
        last=above[-1],
        grid=[Tick(scale(mark, low, high, top, bottom), words(mark)) for mark in steps(low, high)],
        fall_ticks=[Tick(fall_top, fall_words(0)), *([Tick(end, fall_words(deepest))] if deepest else ())],
        days=[Tick(places[index], points[index].label) for index in tick_places(len(points), days)],
        fall_top=fall_top,
        notes=[Tick(x, notes[each.day]) for x, each in zip(places, points, strict=True) if each.day in notes],
    )


@dataclass(frozen=True, slots=True)
class SignedColumn:
    """A column up or down from the middle; `look` is its class, `title` what it says when pointed at."""

    x: float
    y: float
    width: float
    height: float
    look: str
    title: str


@dataclass(frozen=True, slots=True)
class SignedColumns:
    """Values of either sign side by side."""

    label: str
    columns: Sequence[SignedColumn]
    grid: Sequence[Tick]
    words: Sequence[Tick]
    width: int = 328
    height: int = 150
    left: float = 44.0


def signed_columns(
    values: Sequence[tuple[Value, bool]],
    label: str,
    *,
    words: Words,
    every: int,
) -> SignedColumns:
    """Return the columns of values, a hollow one where told; below, every so many have their name. 0 is no column."""
    left, top, bottom = 44.0, 12.0, 128.0
    most = max((abs(value.value) for value, _hollow in values), default=0) or 1.0
    step = (328.0 - left) / max(len(values), 1)
    columns = []
    for number, (value, is_hollow) in enumerate(values):
        if value.value:
            y, zero = (scale(each, -most, most, top, bottom) for each in (value.value, 0))
            look = "c-hollow" if is_hollow else "bar-gain" if value.value > 0 else "bar-loss"
            place = left + step * number + 1.5
            columns.append(
                SignedColumn(place, min(y, zero), step - 3, abs(y - zero), look, f"{value.label}: {value.text}")
            )
    return SignedColumns(
        label,
        columns,
        [Tick(scale(mark, -most, most, top, bottom), words(mark)) for mark in (most, 0, -most)],
        [
            Tick(left + step * (number + 0.5), value.label)
            for number, (value, _hollow) in enumerate(values)
            if number % every == 0
        ],
    )
