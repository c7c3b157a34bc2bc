"""Values of SQLite in the very text that PostgreSQL prints for them, in UTC, column by column in lines of COPY.

So the lines that are sent and those that are read back compare byte by byte. Source: PostgreSQL's manual (COPY).
"""

import json
import re
from collections.abc import Callable
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

NULL = r"\N"
SPECIAL = re.compile(r"[\\\b\t\n\v\f\r]")
ESCAPES = str.maketrans(
    {
        "\\": r"\\",
        "\b": r"\b",
        "\t": r"\t",
        "\n": r"\n",
        "\v": r"\v",
        "\f": r"\f",
        "\r": r"\r",
    }
)
EXPONENT_FROM = 1e15  # Python's begins at 1e16
READ = Context(prec=15)  # digits that SQLite keeps of a number, and Django reads


def render_text(text: str) -> str:
    """Return a text without what parts columns and lines."""
    return text.translate(ESCAPES) if SPECIAL.search(text) else text


def render_moment(text: str) -> str:
    """Return a moment with its zone, which SQLite leaves out, and a fraction without zeros at its end."""
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}+00"


def render_float(value: float) -> str:
    """Return the fewest digits that make this number."""
    text = repr(float(value))
    has_none = abs(value) >= EXPONENT_FROM and "e" not in text
    return f"{Decimal(text).normalize():e}" if has_none else text.removesuffix(".0")


def render_decimal(value: float, *, places: int) -> str:
    """Return a decimal with all places of its column."""
    return f"{READ.create_decimal_from_float(value):.{places}f}"


@lru_cache(maxsize=1_000)
def render_json(text: str) -> str:
    """Return JSON as `jsonb` prints it."""
    return render_text(print_json(json.loads(text, parse_float=Decimal)))


def print_json(value: object) -> str:
    """Return a value of JSON: short names first, numbers without an exponent and with all their digits."""
    if isinstance(value, dict):
        names = sorted(
            value,
            key=lambda name: (len(name.encode()), name.encode()),
        )
        return f"{{{', '.join(f'{print_json(name)}: {print_json(value[name])}' for name in names)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(print_json, value))}]"
    return f"{value or abs(value):f}" if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


RENDERS: dict[str, Callable[[Any], str]] = {
    "BooleanField": lambda value: "t" if value else "f",
    "DateTimeField": render_moment,
    "FloatField": render_float,
    "BinaryField": lambda value: rf"\\x{value.hex()}",
    "UUIDField": lambda text: str(UUID(text)),
    "JSONField": render_json,
}
"""By the kind of a field. All else is text, but for numbers."""
