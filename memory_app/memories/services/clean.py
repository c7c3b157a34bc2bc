"""The fields of a memory as they are stored, and the refusals that say what to mend."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from memory_app.memories.core import HARD_CONSTRAINT, MAX_CONTENT_CHARS, MAX_TICKERS, TICKER, is_hard_constraint
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.errors import FieldError, Invalid
from minara_site.kernel.plain_text import clean_text

MAX_METADATA_CHARS = 8_000


def clean_content(text: str) -> str:
    """Return the statement as it is stored. Raises Invalid for empty, over-long or unstorable text."""
    return clean_text(text, field="statement", max_chars=MAX_CONTENT_CHARS)


def clean_fact_type(text: str) -> str:
    """Return the label as it is stored. Raises Invalid."""
    label = clean_text(text, field="fact_type", max_chars=64, min_chars=0)
    return HARD_CONSTRAINT if is_hard_constraint(label) else label


def clean_tickers(tickers: Sequence[str]) -> list[str]:
    """Return the tickers in capitals, each once, in order. Raises Invalid for what is no ticker."""
    names = list(dict.fromkeys(ticker.strip().upper() for ticker in tickers))
    wrong = [name for name in names if not (TICKER.fullmatch(name) or normalise_symbol(name))]
    if wrong or len(names) > MAX_TICKERS:
        problem = _("Name at most %(max)d tickers such as BTC or EUR/USD.") % {"max": MAX_TICKERS}
        raise Invalid(problem, errors=(FieldError("tickers", problem),))
    return names


def clean_metadata(metadata: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the metadata. Raises Invalid when it is larger than a note may be."""
    if metadata is not None and len(repr(metadata)) > MAX_METADATA_CHARS:
        problem = _("Keep metadata under %(max)d characters.") % {"max": MAX_METADATA_CHARS}
        raise Invalid(problem, errors=(FieldError("metadata", problem),))
    return metadata
