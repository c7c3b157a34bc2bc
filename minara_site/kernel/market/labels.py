"""What is wrong with a price, in sentences that say what to do."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.kernel.core.assets import FIAT, narrowed
from minara_site.kernel.core.venues import BEFORE
from minara_site.kernel.market.core import Fault, UnusableError
from minara_site.kernel.market.core.candle_rows import BadHeaderError

WORDS: dict[Fault, str | Promise] = {
    Fault.MISSING: gettext_lazy("There is no value."),
    Fault.NOT_A_NUMBER: gettext_lazy("This is no number. Write it like 61250.5, without separators of thousands."),
    Fault.NOT_POSITIVE: gettext_lazy("A price is more than 0."),
    Fault.NEGATIVE: gettext_lazy("A volume is not below 0."),
    Fault.TOO_SMALL: gettext_lazy("This is less than 0.000000000000000001, the smallest price that can be stored."),
    Fault.TOO_LARGE: gettext_lazy("This is more than can be stored."),
    Fault.NOT_A_MOMENT: gettext_lazy("Write the time as ISO 8601, or as Unix seconds or milliseconds."),
    Fault.OUT_OF_TIME: gettext_lazy("The time lies before 1970 or after 2200."),
    Fault.LOW_OVER_HIGH: gettext_lazy("The low is above the high."),
    Fault.OUTSIDE_RANGE: gettext_lazy("This lies outside of low and high."),
    Fault.NOT_CLOSED: gettext_lazy("The candle has not closed yet. Its close is not known."),
    Fault.OTHER_VALUES: gettext_lazy("Line %(other_line)d says something else of the same time."),
    Fault.TOO_FEW_CELLS: gettext_lazy("The line has too few cells."),
    Fault.BROKEN_LINE: gettext_lazy("This is no line of a CSV file."),
}


def fault_sentence(problem: UnusableError) -> str:
    """Return why a value cannot be used."""
    return str(WORDS[problem.fault]) % {"other_line": problem.other_line}


def header_sentence(error: BadHeaderError) -> str:
    """Return why the first line of a file names no candles."""
    if error.twice:
        return _("The first line names %(column)s twice. Leave one of the columns out.") % {"column": error.twice}
    named = ", ".join(error.missing)
    return _("The first line has no column for %(columns)s. Name them ts, open, high, low, close, volume.") % {
        "columns": named
    }


def symbol_advice(text: str) -> str:
    """Return what to send instead of a text that names no one price."""
    wanted = narrowed(text).strip().upper()
    venue, colon, _name = wanted.partition(":")
    advice = (
        (" " in wanted, _("Write the symbol without spaces: BTC, ETH/BTC or NASDAQ:AAPL.")),
        (not wanted.isprintable(), _("Remove the invisible characters and line breaks from the symbol.")),
        (wanted in FIAT, _("This is a currency alone. Name both, such as EURUSD.")),
        (wanted.isdecimal(), _("Name the exchange with its code: 7203.T, 0700.HK or 600519.SS.")),
        (
            colon and venue in BEFORE,
            _("This exchange has no such code, or several have its name. Write the suffix: AIR.PA, RY.TO, 7203.T."),
        ),
        (not wanted.isascii(), _("No asset of this name is known. Send its code: BTC, AAPL or 600519.SS.")),
    )
    general = _("This names no one price. Write BTC, ETH/BTC, EURUSD, AAPL or 7203.T.")
    return next((sentence for applies, sentence in advice if applies), general)
