"""CSV files of candles, opened safely: a regular file of UTF-8 text, read line by line."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from django.utils.translation import gettext as _

from minara_site.kernel.errors import Invalid, NotFound
from minara_site.kernel.market.core.candle_rows import MAX_LINE_CHARS, BadHeaderError
from minara_site.kernel.market.labels import header_sentence


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[str]]:
    """Yield the lines of a file, each read to a bound.

    Raises NotFound without a regular file, and Invalid when it is not UTF-8 or its first line names no candles.
    """
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise NotFound(_("There is no file %(path)s.") % {"path": path})
    try:
        with path.open(encoding="utf-8-sig", newline=None) as file:
            yield bounded_lines(file)
    except PermissionError:
        raise NotFound(_("The file %(path)s may not be read.") % {"path": path}) from None
    except UnicodeDecodeError:
        raise Invalid(_("The file is not UTF-8 text. Save it as CSV in UTF-8.")) from None
    except BadHeaderError as error:
        raise Invalid(header_sentence(error)) from None


def bounded_lines(file: TextIO) -> Iterator[str]:
    """Yield lines; of one that is far too long, as much as shows that it is."""
    while line := file.readline(MAX_LINE_CHARS + 2):
        yield line
        while line and not line.endswith("\n"):
            line = file.readline(MAX_LINE_CHARS + 2)
