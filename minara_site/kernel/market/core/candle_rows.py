"""The rows of a CSV file of candles, each a bar or refused with its line and column.

The header may use the names of the usual exports; without one the order is that of Binance's and freqtrade's: ts,
open, high, low, close, volume. `ts` is when a candle opens. Pure: takes lines, opens no file.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from minara_site.kernel.market.core.bars import Bar, read_bar
from minara_site.kernel.market.core.values import Fault, UnusableError, read_moment

COLUMNS = ("ts", "open", "high", "low", "close", "volume")
NEEDED = COLUMNS[:5]
ALIASES: dict[str, tuple[str, ...]] = {
    "ts": ("ts", "timestamp", "time", "date", "datetime", "unix", "open_time", "opens_at", "open time", "timestamp_ms"),
    "open": ("open", "o", "open_price", "open price"),
    "high": ("high", "h", "high_price", "high price", "max"),
    "low": ("low", "l", "low_price", "low price", "min"),
    "close": ("close", "c", "close_price", "close price", "close/last", "last"),
    "volume": ("volume", "v", "vol", "vol.", "base_volume", "volume_base"),
}
NAMED = {alias: column for column, aliases in ALIASES.items() for alias in aliases}
MAX_LINE_CHARS = 4_000


class BadHeaderError(ValueError):
    """The first line names no candles: `missing` columns, or `twice` one column."""

    def __init__(self, missing: Sequence[str] = (), twice: str = "") -> None:
        super().__init__(missing, twice)
        self.missing, self.twice = tuple(missing), twice


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the file: its bar, or why there is none; `is_repeated` when an earlier line says the same."""

    line: int
    bar: Bar | None = None
    problem: UnusableError | None = None
    is_repeated: bool = False


def parse_rows(
    lines: Iterable[str],
    *,
    interval: timedelta,
    now: datetime,
) -> Iterator[Row]:
    """Yield every row in the file's order. Raises BadHeaderError before the first one.

    A candle that closes after `now` is refused: its close is not known yet. Of two rows of the same moment the first
    counts; the second is repeated when it says the same, else refused.
    """
    places: Mapping[str, int] | None = None
    seen: dict[datetime, tuple[int, int]] = {}
    for line, written in enumerate(lines, start=1):
        text = written.strip().removeprefix("\ufeff")
        if not text:
            continue
        cells = split_line(text)
        if places is None and (places := find_places(cells or ())) is not None:
            continue
        if not places:  # a file without a header
            places = {column: place for place, column in enumerate(COLUMNS) if place < len(cells or ())}
        yield judge(cells, line, places, seen, latest=now - interval)
    if places is None:
        raise BadHeaderError(NEEDED)


def split_line(text: str) -> list[str] | None:
    """Return the cells of one line, None for what is no line of a CSV file. A cell holds no line break."""
    if len(text) > MAX_LINE_CHARS or "\0" in text:
        return None
    try:
        return next(csv.reader((text,), strict=True))
    except csv.Error:
        return None


def find_places(header: Sequence[str]) -> Mapping[str, int] | None:
    """Return where each column stands; None when the first line is a row already. Raises BadHeaderError."""
    if len(header) >= len(NEEDED) and is_moment(header[0]):
        return None
    places: dict[str, int] = {}
    for place, name in enumerate(header):
        column = NAMED.get(name.strip().casefold())
        if column in places:
            raise BadHeaderError(twice=column)
        if column:
            places[column] = place
    missing = [column for column in NEEDED if column not in places]
    if missing:
        raise BadHeaderError(missing)
    return places


def is_moment(cell: str) -> bool:
    """Say whether a cell holds a moment."""
    try:
        read_moment(cell)
    except UnusableError:
        return False
    return True


def judge(
    cells: Sequence[str] | None,
    line: int,
    places: Mapping[str, int],
    seen: dict[datetime, tuple[int, int]],
    *,
    latest: datetime,
) -> Row:
    """Return the row of one line, and note its moment in `seen`."""
    try:
        bar = read_cells(cells, places)
    except UnusableError as problem:
        return Row(line, problem=problem)
    if bar.opens_at > latest:
        return Row(line, problem=UnusableError(Fault.NOT_CLOSED, "ts"))
    known_line, known = seen.setdefault(bar.opens_at, (line, hash(bar)))
    if known != hash(bar):
        return Row(
            line,
            problem=UnusableError(Fault.OTHER_VALUES, "ts", other_line=known_line),
        )
    return Row(line, bar, is_repeated=known_line != line)


def read_cells(cells: Sequence[str] | None, places: Mapping[str, int]) -> Bar:
    """Return the bar of one line's cells. Raises UnusableError."""
    if cells is None:
        raise UnusableError(Fault.BROKEN_LINE)
    if len(cells) <= max(places[column] for column in NEEDED):
        raise UnusableError(Fault.TOO_FEW_CELLS)
    return read_bar({column: cells[place] for column, place in places.items() if place < len(cells)})
