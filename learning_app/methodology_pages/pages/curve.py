"""Curves over counted steps, such as a bound by uses: drawn twice, so that letters keep their size on a phone (U-13).

Pure. templates/learning_app/methodologies/_curve.html writes the SVG. Units are SVG user units; y grows downwards.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from minara_site.web.charts import Frame, Spot, Tick, Value, path, scale

LEFT, TOP = 36.0, 14.0
BELOW = 34.0  # room for the words of the x axis
RIGHT_ROW, WRONG_ROW, MARK = 8.0, 2.0, 3.0  # places above the floor, and half a cross
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
Places = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line through values by step; `css` gives its look."""

    places: Places
    css: str = ""


@dataclass(frozen=True, slots=True)
class Band:
    """What is filled between two lines; `css` gives its look."""

    lower: Places
    upper: Places
    css: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """A value that a dashed line marks; `short` is its word where there is little room, below the line or left."""

    value: float
    text: str
    short: str
    is_below: bool = False
    is_left: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    """A step that stands out, and what it says when pointed at; `is_last` is drawn hollow."""

    step: int
    value: float
    title: str
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What a curve shows, in steps and values. `notes` are steps marked across.

    `right` and `wrong` are the steps of outcomes, drawn as ticks and crosses on the floor.
    """

    label: str
    rows: Sequence[Value]
    lines: Sequence[Line]
    y_ticks: Sequence[tuple[float, str]]
    levels: Sequence[Level]
    dots: Sequence[Dot]
    x_text: str
    bands: Sequence[Band] = ()
    notes: Sequence[int] = ()
    right: Sequence[int] = ()
    wrong: Sequence[int] = ()

    @property
    def steps(self) -> tuple[int, int]:
        """Return the first step and the last."""
        steps = [step for line in self.lines for step, _value in line.places]
        return min(steps), max(steps)


@dataclass(frozen=True, slots=True)
class DrawnLevel:
    """A level with its place; `anchor` is the class of its word."""

    y: float
    word_x: float
    word_y: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class CurveDrawing(Frame):
    """A curve at one width; paths are the `d` of theirs."""

    y_ticks: Sequence[Tick]
    x_ticks: Sequence[Tick]
    areas: Sequence[tuple[str, str]]
    lines: Sequence[tuple[str, str]]
    levels: Sequence[DrawnLevel]
    notes: Sequence[float]
    right_marks: str
    wrong_marks: str
    dots: Sequence[tuple[Spot, bool]]

    @property
    def x_label(self) -> float:
        """Return the base line of the numbers below the field."""
        return self.bottom + 16

    @property
    def x_text(self) -> int:
        """Return the base line of what they count."""
        return self.height - 2


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve, wide and narrow, with its table."""

    plan: Plan
    wide: CurveDrawing
    narrow: CurveDrawing

    @property
    def label(self) -> str:
        return self.plan.label


def draw_curve(plan: Plan) -> Curve:
    """Return the curve of a plan with at least one place."""
    return Curve(
        plan,
        draw(plan, 640, 290, words=9, is_wide=True),
        draw(plan, 330, 240, words=4, is_wide=False),
    )


def draw(
    plan: Plan,
    width: int,
    height: int,
    *,
    words: int,
    is_wide: bool,
) -> CurveDrawing:
    """Return the curve at one width; `words` is how many numbers fit below it."""
    right, bottom = width - 14.0, height - BELOW
    first, last = plan.steps
    low, high = plan.y_ticks[0][0], plan.y_ticks[-1][0]

    def across(step: int) -> float:
        return LEFT + (right - 22 - LEFT) * ((step - first) / (last - first) if last > first else 1)

    def up(value: float) -> float:
        return scale(value, low, high, TOP, bottom)

    def spots(places: Places) -> list[Spot]:
        return [Spot(across(step), up(value)) for step, value in places]

    def place_level(level: Level) -> DrawnLevel:
        y, text = up(level.value), level.text if is_wide else level.short
        word_y = y + 14 if level.is_below else y - 5
        return (
            DrawnLevel(y, LEFT + 6, word_y, text, "") if level.is_left else DrawnLevel(y, right, word_y, text, "c-end")
        )

    def fill(band: Band) -> str:
        return f"{path([*spots(band.lower), *reversed(spots(band.upper))])}Z"

    return CurveDrawing(
        width=width,
        height=height,
        left=LEFT,
        right=right,
        top=TOP,
        bottom=bottom,
        y_ticks=[Tick(up(value), text) for value, text in plan.y_ticks],
        x_ticks=[Tick(across(step), f"{step:,}") for step in spaced(first, last, words)],
        areas=[(band.css, fill(band)) for band in plan.bands],
        lines=[(line.css, path(spots(line.places))) for line in plan.lines if line.places],
        levels=[place_level(level) for level in plan.levels if low <= level.value <= high],
        notes=[across(step) for step in plan.notes if first < step < last],
        right_marks="".join(f"M{across(step):.1f} {bottom - RIGHT_ROW - 1:.1f}v8" for step in plan.right),
        wrong_marks=crosses(plan.wrong, across, bottom),
        dots=[
            (
                Spot(across(dot.step), up(dot.value), dot.title),
                dot.is_last,
            )
            for dot in plan.dots
        ],
    )


def crosses(steps: Sequence[int], across: Callable[[int], float], bottom: float) -> str:
    """Return the crosses of wrong outcomes, as high as the ticks of right ones."""
    top, size = bottom - WRONG_ROW - 2 * MARK, 2 * MARK
    return "".join(
        f"M{across(step) - MARK:.1f} {top:.1f}l{size:.0f} {size:.0f}m0 {-size:.0f}l{-size:.0f} {size:.0f}"
        for step in steps
    )


def spaced(first: int, last: int, words: int) -> list[int]:
    """Return the steps that get a number: the first, and round ones, about so many as `words`."""
    size = next(
        (size for size in STEPS if (last - first) / size < words),
        last,
    )
    rounds = [step for step in range(0, last + 1, size) if step >= first + size / 2]
    return [first, *rounds]
