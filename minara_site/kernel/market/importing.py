"""Bringing a file of candles in: every row is stored, stands already, or is refused with its line.

The length of the candles is the caller's word, and a wrong one would let a close be known too early; so the rows must
lie as far apart as it says.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain, islice
from pathlib import Path

from django.utils.translation import gettext as _

from minara_site.kernel.errors import Invalid
from minara_site.kernel.market.adapters.files import open_lines
from minara_site.kernel.market.core import Bar, format_interval
from minara_site.kernel.market.core.bars import smallest_step
from minara_site.kernel.market.core.candle_rows import Row, parse_rows
from minara_site.kernel.market.services import SLICE_ROWS, Counts, Series, import_bars

SUMMER_TIME = 0.9  # of a day that has 23 hours


@dataclass(slots=True)
class Report:
    """How many rows a file has, how many of them are refused or say what an earlier one says, and what was written."""

    rows: int = 0
    refused: int = 0
    repeated: int = 0
    counts: Counts = field(default_factory=Counts)


def import_file(
    *,
    path: Path,
    series: Series,
    now: datetime,
    apply: bool = True,
    may_have_gaps: bool = False,
    note_row: Callable[[Row], None] = lambda row: None,
) -> Report:
    """Import a file of candles; without `apply` say what that would do. `note_row` hears of each refused row.

    `may_have_gaps` says that no two rows need lie as close as the interval. Raises NotFound without a file, Invalid
    for one that holds no candles or others than the interval says.
    """
    report, length = Report(), timedelta(seconds=series.interval_seconds)
    with open_lines(path) as lines:
        rows = iter(parse_rows(lines, interval=length, now=now))
        first = list(islice(rows, SLICE_ROWS))
        check_step(
            [row.bar for row in first if row.bar],
            length,
            may_have_gaps=may_have_gaps,
        )
        bars = usable_bars(chain(first, rows), report, note_row)
        report.counts = import_bars(
            series=series,
            bars=bars,
            now=now,
            apply=apply,
        )
    return report


def check_step(bars: Iterable[Bar], length: timedelta, *, may_have_gaps: bool) -> None:
    """Raise Invalid when the rows do not lie one interval apart."""
    step = smallest_step([bar.opens_at for bar in bars])
    if step is None or step == length:
        return
    said = {
        "said": format_interval(int(length.total_seconds())),
        "step": format_interval(int(step.total_seconds())),
    }
    if step < length * SUMMER_TIME:
        raise Invalid(_("The rows lie %(step)s apart, closer than %(said)s. Give the right --interval.") % said)
    if step > length and not may_have_gaps:
        raise Invalid(
            _("No two rows lie closer than %(step)s; --interval says %(said)s. Give the right one, or --gaps.") % said
        )


def usable_bars(
    rows: Iterable[Row],
    report: Report,
    note_row: Callable[[Row], None],
) -> Iterator[Bar]:
    """Yield the bars of rows, count every row, and tell of those that are refused."""
    for row in rows:
        report.rows += 1
        if row.problem is not None:
            report.refused += 1
            note_row(row)
        elif row.is_repeated:
            report.repeated += 1
        elif row.bar is not None:
            yield row.bar
