"""Charts as plain numbers: the server works out every place, templates/parts/chart_*.html write the SVG.

Pure. Each chart carries one sentence that says what it shows, and its rows for the table behind it (screens U-13); the
legend of a segmented bar is its table: it names each part with its value.
Units are SVG user units; y grows downwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SPARK_WIDTH, SPARK_HEIGHT = 96, 32
SPARK_LEFT, SPARK_RIGHT, SPARK_TOP, SPARK_BOTTOM = 2.0, 92.0, 4.0, 28.0
BAR_GAP = 4.0  # between segments, of 2 000 units
FLOOR = 22.0  # below the field of a line chart
BAND_WORD_WIDTH = 60
BAR_UNITS = 2000.0
MAX_SERIES = 6
GAP_DROP = 22.0  # from a line to the words of its gap
TEXT_DROP = 4.0  # from the middle of an 11 px word to its base line


@dataclass(frozen=True, slots=True)
class Value:
    """A number and its name; `text` is how people read the number where that differs."""

    label: str
    value: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a drawing, and where its field begins and ends."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a drawing, and what it says when pointed at."""

    x: float
    y: float
    title: str = ""


@dataclass(frozen=True, slots=True)
class Sparkline:
    """The course of a few values: outline, filled area, last value."""

    label: str
    rows: Sequence[Value]
    line: str
    area: str
    end: Spot


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar. `series` is 1 to 6: its colour in bar and legend."""

    label: str
    value: int
    x: float
    width: float
    series: int


@dataclass(frozen=True, slots=True)
class SegmentedBar:
    """Parts of a whole, side by side."""

    label: str
    segments: Sequence[Segment]
    total: int


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a line chart; None is a gap, drawn dashed.

    `note` marks the point with a line across and its words; `gap` are the words of a gap that begins here.
    """

    label: str
    value: float | None
    text: str = ""
    note: str = ""
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Band:
    """A named range of values, from `low` up to `high`. `name` is the state whose colours it takes."""

    name: str
    low: float
    high: float
    label: str = ""


BANDS = (
    Band("healthy", 80, 100),
    Band("watch", 60, 80),
    Band("degraded", 40, 60),
    Band("alarm", 0, 40),
)


@dataclass(frozen=True, slots=True)
class DrawnBand:
    """A band with its place."""

    name: str
    label: str
    y: float
    height: float

    @property
    def middle(self) -> float:
        """Return the base line of its word."""
        return self.y + self.height / 2 + TEXT_DROP


@dataclass(frozen=True, slots=True)
class Tick:
    """A word on an axis."""

    place: float
    text: str

    @property
    def baseline(self) -> float:
        """Return the base line of a word beside the y axis."""
        return self.place + TEXT_DROP


@dataclass(frozen=True, slots=True)
class Drawing:
    """A line chart at one width, so that its letters keep their size on a phone."""

    width: int
    height: int
    left: float
    right: float
    bands: Sequence[DrawnBand]
    lines: Sequence[str]
    gaps: Sequence[str]
    spots: Sequence[Spot]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    has_words: bool
    notes: Sequence[Tick] = ()
    gap_words: Sequence[Spot] = ()

    @property
    def span(self) -> float:
        """Return the width of the field."""
        return self.right - self.left

    @property
    def y_label(self) -> float:
        """Return where the words of the y axis end."""
        return self.left - 7

    @property
    def band_label(self) -> float:
        """Return where the words of the bands begin."""
        return self.right + 10

    @property
    def floor(self) -> float:
        """Return where the field ends below."""
        return self.height - FLOOR

    @property
    def x_label(self) -> int:
        """Return the base line of the words below the field."""
        return self.height - 5


@dataclass(frozen=True, slots=True)
class LineChart:
    """The course of a value, drawn wide and narrow."""

    label: str
    points: Sequence[Point]
    wide: Drawing
    narrow: Drawing


def path(spots: Sequence[Spot]) -> str:
    """Return the `d` of a line through the spots."""
    return "M" + "L".join(f"{spot.x:.1f} {spot.y:.1f}" for spot in spots) if spots else ""


def closed(spots: Sequence[Spot], floor: float) -> str:
    """Return the `d` of the field between a line and its floor."""
    return f"{path(spots)}L{spots[-1].x:.1f} {floor:.1f}L{spots[0].x:.1f} {floor:.1f}Z"


def spread(count: int, left: float, right: float) -> list[float]:
    """Return `count` places from left to right; a single one stands at the right."""
    if count == 1:
        return [right]
    return [left + (right - left) * index / (count - 1) for index in range(count)]


def scale(
    value: float,
    low: float,
    high: float,
    top: float,
    bottom: float,
) -> float:
    """Return the y of a value; values outside the range stand on its edge, a flat range in the middle."""
    if high <= low:
        return (top + bottom) / 2
    share = (min(max(value, low), high) - low) / (high - low)
    return bottom - share * (bottom - top)


def sparkline(rows: Sequence[Value], label: str) -> Sparkline | None:
    """Return a sparkline of the values, oldest first; None without values."""
    if not rows:
        return None
    values = [row.value for row in rows]
    low, high = min(values), max(values)
    places = spread(len(values), SPARK_LEFT, SPARK_RIGHT)
    spots = [Spot(x, scale(value, low, high, SPARK_TOP, SPARK_BOTTOM)) for x, value in zip(places, values, strict=True)]
    floor = SPARK_HEIGHT - 1
    return Sparkline(label, rows, path(spots), closed(spots, floor), spots[-1])


def segmented_bar(
    parts: Sequence[tuple[str, int]],
    label: str,
    total: int = 0,
) -> SegmentedBar:
    """Return a bar of parts; `total` is the whole when the parts do not fill it. Parts of 0 stay in the legend."""
    whole = max(total, sum(value for _, value in parts), 1)
    segments, x = [], 0.0
    for index, (name, value) in enumerate(parts):
        width = BAR_UNITS * value / whole
        segments.append(
            Segment(
                name,
                value,
                round(x, 1),
                round(max(width - BAR_GAP, 0), 1),
                index % MAX_SERIES + 1,
            )
        )
        x += width
    return SegmentedBar(label, segments, whole)


def percent(value: float, most: float) -> float:
    """Return `value` in percent of `most`, within 0 to 100; a limit of 0 is full."""
    return round(min(max(100 * value / most, 0), 100), 1) if most > 0 else 100.0


def line_chart(
    points: Sequence[Point],
    label: str,
    *,
    bands: Sequence[Band] = (),
    low: float | None = None,
    high: float | None = None,
    size: tuple[int, int] = (660, 190),
) -> LineChart:
    """Return a line chart of the points, oldest first; without `low` and `high` the values set the range.

    `size` is that of the wide drawing: width and height.
    """
    values = [point.value for point in points if point.value is not None] or [0.0]
    bounds = (min(values) if low is None else low, max(values) if high is None else high)
    width, height = size
    right = width - (BAND_WORD_WIDTH + 6 if bands else 20)
    wide = draw(
        points,
        bands,
        bounds,
        width=width,
        height=height,
        right=right,
        words=6,
    )
    narrow = draw(
        points,
        bands,
        bounds,
        width=330,
        height=180,
        right=322,
        words=3,
    )
    return LineChart(label, points, wide, narrow)


def draw(
    points: Sequence[Point],
    bands: Sequence[Band],
    bounds: tuple[float, float],
    *,
    width: int,
    height: int,
    right: float,
    words: int,
) -> Drawing:
    """Return the chart at one width; `words` is how many labels fit below it."""
    left, top, bottom = 36.0, 12.0, height - FLOOR
    low, high = bounds
    places = spread(len(points), left, right - 8) if points else []
    spots = [
        None
        if point.value is None
        else Spot(
            x,
            scale(point.value, low, high, top, bottom),
            f"{point.label}: {point.text or f'{point.value:,.6g}'}",
        )
        for x, point in zip(places, points, strict=True)
    ]
    runs = split_runs(spots)
    marks = sorted(
        {
            low,
            high,
            *(edge for band in bands for edge in (band.low, band.high) if low <= edge <= high),
        }
    )
    return Drawing(
        width=width,
        height=height,
        left=left,
        right=right,
        bands=[place_band(band, bounds, top, bottom) for band in bands if band.high > low and band.low < high],
        lines=[path(run) for run in runs],
        gaps=[path([before[-1], after[0]]) for before, after in pairwise(runs)],
        spots=[spot for spot in spots if spot is not None],
        x_ticks=[Tick(places[index], points[index].label) for index in tick_places(len(points), words)],
        y_ticks=[Tick(scale(mark, low, high, top, bottom), f"{mark:,.6g}") for mark in marks],
        has_words=width - right > BAND_WORD_WIDTH,
        notes=[Tick(x, point.note) for x, point in zip(places, points, strict=True) if point.note],
        gap_words=name_gaps(points, places, spots) if width - right > BAND_WORD_WIDTH else [],
    )


def split_runs(spots: Sequence[Spot | None]) -> list[list[Spot]]:
    """Return the stretches between gaps."""
    runs: list[list[Spot]] = [[]]
    for spot in spots:
        if spot is not None:
            runs[-1].append(spot)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def name_gaps(
    points: Sequence[Point],
    places: Sequence[float],
    spots: Sequence[Spot | None],
) -> list[Spot]:
    """Return the words of the gaps, each below the value before it."""
    named, last = list[Spot](), None
    for point, x, spot in zip(points, places, spots, strict=True):
        if point.gap and last:
            named.append(Spot(x, last.y + GAP_DROP, point.gap))
        last = spot or last
    return named


def place_band(
    band: Band,
    bounds: tuple[float, float],
    top: float,
    bottom: float,
) -> DrawnBand:
    """Return a band's place, cut to the range."""
    low, high = bounds
    upper = scale(band.high, low, high, top, bottom)
    return DrawnBand(
        band.name,
        band.label or band.name,
        upper,
        scale(band.low, low, high, top, bottom) - upper,
    )


def tick_places(count: int, most: int) -> list[int]:
    """Return which of `count` points get a word below them, first and last among them."""
    if count <= most:
        return list(range(count))
    return [round(index * (count - 1) / (most - 1)) for index in range(most)]
