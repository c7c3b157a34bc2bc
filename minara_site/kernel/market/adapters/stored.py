"""Candles that lie here already: of the table, or of a CSV file."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from minara_site.kernel.market.adapters.files import open_lines
from minara_site.kernel.market.core import Bar, normalise_symbol
from minara_site.kernel.market.core.bars import page_of
from minara_site.kernel.market.core.candle_rows import parse_rows
from minara_site.kernel.market.selectors import list_bars


@dataclass(frozen=True, slots=True)
class TableSource:
    """The instance's own candles."""

    label: str = "table"

    def fetch_bars(self, pair: str, *, interval_seconds: int, since: datetime, most: int) -> Sequence[Bar]:
        """Return stored candles; none of what names no price."""
        symbol = normalise_symbol(pair)
        return list_bars(symbol, interval_seconds=interval_seconds, since=since, most=most) if symbol else []


@dataclass(frozen=True, slots=True)
class FileSource:
    """One CSV file, whose rows are of whatever pair is asked for; rows that cannot be used are left out."""

    path: Path
    now: datetime

    @property
    def label(self) -> str:
        """The file's name."""
        return f"csv:{self.path.name}"

    def fetch_bars(self, pair: str, *, interval_seconds: int, since: datetime, most: int) -> Sequence[Bar]:
        """Return the file's candles. Raises NotFound or Invalid for a file that cannot be read."""
        with open_lines(self.path) as lines:
            rows = parse_rows(lines, interval=timedelta(seconds=interval_seconds), now=self.now)
            return page_of((row.bar for row in rows if row.bar), since=since, most=most)
