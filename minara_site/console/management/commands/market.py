"""`minara market`: import candles from a CSV file, or fetch them from the source of the settings."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.market.core import UnusableError, parse_interval, read_moment
from minara_site.kernel.market.core.candle_rows import Row
from minara_site.kernel.market.fetching import fetch_pairs
from minara_site.kernel.market.importing import Report, import_file
from minara_site.kernel.market.labels import fault_sentence
from minara_site.kernel.market.services import Series
from minara_site.kernel.market.sources import current_interval_seconds, current_pairs, current_source, pair_of
from minara_site.kernel.market.symbols import require_symbol
from minara_site.web.labels import sentences

SOMETHING_REJECTED = 2
MAX_SHOWN = 100
ACTOR = "command:market"
INTERVAL_HELP = "length of a candle: 5m, 1h, 1d"


class Command(MinaraCommand):
    """Import candles, or fetch them."""

    help = "Import candles from a CSV file, or fetch them from MARKET_SOURCE."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        bring = acts.add_parser("import", help="Import candles from a CSV file: ts, open, high, low, close, volume.")
        bring.add_argument("path", type=Path)
        bring.add_argument(
            "--symbol",
            type=symbol_of,
            required=True,
            help="what they are prices of: BTC, ETH/BTC",
        )
        bring.add_argument(
            "--interval",
            type=seconds_of,
            required=True,
            help=INTERVAL_HELP,
        )
        bring.add_argument(
            "--gaps",
            action="store_true",
            help="no two rows need lie one interval apart",
        )
        bring.add_argument(
            "--dry-run",
            action="store_true",
            help="say what would be stored, and store nothing",
        )
        fetch = acts.add_parser("fetch", help="Fetch what has closed since the newest candle.")
        fetch.add_argument(
            "--symbol",
            action="append",
            help="fetch this pair, not those of MARKET_SYMBOLS",
        )
        fetch.add_argument("--interval", type=seconds_of, help=INTERVAL_HELP)
        fetch.add_argument(
            "--since",
            type=moment_of,
            help="begin at this time, to fill what is missing",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.bring(options) if options["act"] == "import" else self.fetch(options)

    def bring(self, options: dict[str, Any]) -> None:
        """Import a file. Exit status 2 says that a row was refused."""
        series = Series(
            options["symbol"],
            options["interval"],
            f"csv:{options['path'].name}"[:80],
            ACTOR,
        )
        shown = 0

        def note_row(row: Row) -> None:
            nonlocal shown
            shown += 1
            if shown <= MAX_SHOWN:
                self.stdout.write(describe(row))

        report = import_file(
            path=options["path"],
            series=series,
            now=timezone.now(),
            apply=not options["dry_run"],
            may_have_gaps=options["gaps"],
            note_row=note_row,
        )
        if shown > MAX_SHOWN:
            self.stdout.write(_("%(more)d further rows were refused.") % {"more": shown - MAX_SHOWN})
        self.stdout.write(summarize(report, series.symbol, apply=not options["dry_run"]))
        if report.refused:
            sys.exit(SOMETHING_REJECTED)

    def fetch(self, options: dict[str, Any]) -> None:
        """Fetch from the source. Raises CommandError when a pair could not be fetched; the others are stored."""
        source = current_source()
        if source is None:
            raise CommandError(_("No source is set up. Set MARKET_SOURCE to http or ccxt."))
        pairs = [pair_of(each) for each in options["symbol"]] if options["symbol"] else current_pairs()
        if not pairs:
            raise CommandError(_("Nothing is named. Set MARKET_SYMBOLS, or give --symbol BTC/USDT."))
        interval = options["interval"] or current_interval_seconds()
        fetched = fetch_pairs(
            source=source,
            pairs=pairs,
            interval_seconds=interval,
            now=timezone.now(),
            actor=ACTOR,
            since=options["since"],
        )
        for symbol, counts in fetched.counts.items():
            said = {"symbol": symbol, "new": counts.new, "corrected": counts.corrected}
            self.stdout.write(_("%(symbol)s: %(new)d new, %(corrected)d corrected.") % said)
        for symbol, error in fetched.problems.items():
            self.stderr.write(f"{symbol}: {error.detail}")
        if fetched.problems:
            raise CommandError(_("Not everything was fetched. Run it again, it goes on from where it stopped."))


def symbol_of(text: str) -> str:
    """Return the symbol that an argument means. Raises ArgumentTypeError."""
    try:
        return require_symbol(text)
    except ValueError as advice:
        raise ArgumentTypeError(advice) from None


def seconds_of(text: str) -> int:
    """Return the seconds of an interval. Raises ArgumentTypeError."""
    seconds = parse_interval(text)
    if seconds is None:
        raise ArgumentTypeError(_("write a length like 5m, 1h, 1d or 1w"))
    return seconds


def moment_of(text: str) -> datetime:
    """Return a moment. Raises ArgumentTypeError."""
    try:
        return read_moment(text)
    except UnusableError as problem:
        raise ArgumentTypeError(fault_sentence(problem)) from None


def describe(row: Row) -> str:
    """Return one line about a refused row."""
    assert row.problem is not None
    place = _("line %(line)d") % {"line": row.line}
    if row.problem.column:
        place = f"{place}, {row.problem.column}"
    return visible(f"{place}: {fault_sentence(row.problem)}")


def summarize(report: Report, symbol: str, *, apply: bool) -> str:
    """Return the last line."""
    done = (
        _("%(symbol)s: of %(rows)d rows %(new)d new, %(corrected)d corrected, %(refused)d refused.")
        if apply
        else _("%(symbol)s: of %(rows)d rows %(new)d would be new, %(corrected)d corrected, %(refused)d refused.")
    )
    counts = report.counts
    said = done % {
        "symbol": symbol,
        "rows": report.rows,
        "new": counts.new,
        "corrected": counts.corrected,
        "refused": report.refused,
    }
    if report.repeated:
        twice = ngettext(
            "%(count)d row says what an earlier one says.",
            "%(count)d rows say what an earlier one says.",
            report.repeated,
        )
        said = sentences(said, twice % {"count": report.repeated})
    if counts.doubted:
        said = sentences(said, _("%(count)d judge nothing yet: see the page Prices.") % {"count": counts.doubted})
    return said
