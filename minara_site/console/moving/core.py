"""Values of SQLite in the very text that PostgreSQL prints for them in UTC, column by column in lines of COPY.

So the lines that are sent and those that are read back compare byte by byte. Source: PostgreSQL's manual (COPY).
"""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

NULL = r"\N"
SPECIAL = re.compile(r"[\\\b\t\n\v\f\r]")
ESCAPES = str.maketrans({"\\": r"\\", "\b": r"\b", "\t": r"\t", "\n": r"\n", "\v": r"\v", "\f": r"\f", "\r": r"\r"})
MAX_FIXED = 1e15  # from here on PostgreSQL prints a float with an exponent


def render_text(text: str) -> str:
    """Return a text without what parts columns and lines."""
    return text.translate(ESCAPES) if SPECIAL.search(text) else text


def render_moment(text: str) -> str:
    """Return a moment with its zone, which SQLite leaves out, and a fraction without zeros at its end."""
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}+00"


def render_float(value: float) -> str:
    """Return the fewest digits that make this number."""
    text = repr(float(value))
    return f"{Decimal(text).normalize():e}" if abs(value) >= MAX_FIXED and "e" not in text else text.removesuffix(".0")


@lru_cache(maxsize=1_000)
def render_json(text: str) -> str:
    """Return JSON as `jsonb` prints it."""
    return render_text(print_json(json.loads(text, parse_float=Decimal)))


def print_json(value: object) -> str:
    """Return a value of JSON: short names first, numbers without an exponent and with all their digits."""
    match value:
        case dict():
            names = sorted(value, key=lambda name: (len(name.encode()), name.encode()))
            return f"{{{', '.join(f'{print_json(name)}: {print_json(value[name])}' for name in names)}}}"
        case list():
            return f"[{', '.join(map(print_json, value))}]"
        case Decimal():
            return f"{value or abs(value):f}"
    return json.dumps(value, ensure_ascii=False)


RENDERS: dict[str, Callable[[Any], str]] = {
    "BooleanField": lambda value: "t" if value else "f",
    "DateTimeField": render_moment,
    "FloatField": render_float,
    "BinaryField": lambda value: rf"\\x{value.hex()}",
    "UUIDField": lambda text: str(UUID(text)),
    "JSONField": render_json,
}
"""By the kind of a field; whole numbers and decimals are no matter of the text, all else is text."""
