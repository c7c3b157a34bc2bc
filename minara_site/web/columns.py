"""Counts side by side as columns: how many of something lie in each stretch. Pure.

Drawn twice, so that letters keep their size on a phone; templates/parts/chart_columns.html writes the SVG, and the rows
of the table beside it are the same (screens U-13). Units are SVG user units.
"""

from collections.abc import Sequence
from dataclasses import dataclass

GAP = 6.0
MIN_HEIGHT = 2.0  # of a column that counts something


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch and how many lie in it. `word` stands below it; `is_open` is drawn hollow: not yet, or past it.

    `text` says a count that stopped.
    """

    label: str
    word: str
    value: int
    is_open: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A stretch with its place."""

    x: float
    y: float
    width: float
    height: float
    stretch: Stretch
    has_word: bool

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def count_line(self) -> float:
        """Return the base line of the count above it."""
        return self.y - 5


@dataclass(frozen=True, slots=True)
class ColumnDrawing:
    """The columns at one width."""

    width: int
    height: int
    floor: float
    columns: Sequence[Column]

    @property
    def word_line(self) -> float:
        """Return the base line of the words below the columns."""
        return self.height - 6.0


@dataclass(frozen=True, slots=True)
class ColumnChart:
    """Counts side by side."""

    label: str
    rows: Sequence[Stretch]
    wide: ColumnDrawing
    narrow: ColumnDrawing


def column_chart(stretches: Sequence[Stretch], label: str) -> ColumnChart:
    """Return the columns of the stretches, in their order."""
    return ColumnChart(
        label,
        stretches,
        draw(stretches, 660, 150, every=1),
        draw(stretches, 330, 140, every=2),
    )


def draw(
    stretches: Sequence[Stretch],
    width: int,
    height: int,
    *,
    every: int,
) -> ColumnDrawing:
    """Return the columns at one width; below, every so many have their word."""
    top, floor = 22.0, height - 22.0
    most = max([stretch.value for stretch in stretches] or [0])
    step = width / max(len(stretches), 1)
    columns = []
    for number, stretch in enumerate(stretches):
        tall = max((floor - top) * stretch.value / most, MIN_HEIGHT) if stretch.value else 0.0
        place = Column(
            step * number + GAP / 2,
            floor - tall,
            step - GAP,
            tall,
            stretch,
            number % every == 0,
        )
        columns.append(place)
    return ColumnDrawing(width, height, floor, columns)
