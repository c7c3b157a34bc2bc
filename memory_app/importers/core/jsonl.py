"""JSON lines: one object per line, `{content, category?, source?, created_at?, tickers?, fact_type?, metadata?}`.

`statement` and `text` stand for `content` as well. Fields beside these are left out. A claimed `source` is kept in
the metadata: whoever imports is the one who says it (decisions, sources and categories).
"""

from typing import Any

from memory_app.importers.core.entries import Entry
from memory_app.importers.core.fields import Expected, UnusableError, read_choice, read_field, read_object, read_time
from minara_site.kernel.core.vocabulary import Category, Source

CONTENT_NAMES = ("content", "statement", "text")


def read_record(line: int, value: Any) -> Entry:
    """Return the entry of one line's JSON value. Raises UnusableError."""
    value = read_object(value)
    metadata = read_field(value, "metadata", dict, {})
    source = read_choice(value, "source", Source)
    given = [name for name in CONTENT_NAMES if value.get(name) is not None]
    if len(given) != 1:
        raise UnusableError(Expected.ONE_CONTENT, choices=CONTENT_NAMES)
    return Entry(
        line=line,
        content=str(read_field(value, given[0], str, "")),
        category=read_choice(value, "category", Category) or Category.OBSERVATION,
        written_at=read_time(value),
        fact_type=read_field(value, "fact_type", str, ""),
        tickers=read_tickers(value),
        metadata=({"source": source} if source else {}) | metadata or None,
    )


def read_tickers(value: dict[str, Any]) -> tuple[str, ...]:
    """Return the tickers as they are written. Raises UnusableError."""
    found = value.get("tickers")
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(ticker, str) for ticker in found):
        raise UnusableError(Expected.TEXTS, "tickers")
    return tuple(found)
