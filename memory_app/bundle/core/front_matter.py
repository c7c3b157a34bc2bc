"""A file of a bundle: flat front matter between two lines `---`, then the text, byte for byte. Source: S1, W-18.

What is read is less than YAML on purpose. Plain words mean what they say: only `true`, `false`, `null` and the numbers
of JSON are anything but text, so that `no`, `1_0` or a date stay text. Anchors, aliases and tags are refused, as are
names given twice and numbers that are not finite. What is written is what JSON and YAML read alike.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from memory_app.bundle.core.plan import Reason

MAX_BYTES = 64 * 1024
MAX_DEPTH = 10
MAX_DIGITS = 18  # fits the columns of both engines

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LIMIT = b"---\n"
_END = b"\n---\n"
_WORD = re.compile(r"[a-z][a-z_]*")
_AMBIGUOUS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|nan)", re.IGNORECASE)
_CONSTANTS = {"true": True, "false": False, "null": None, "~": None, "": None}
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


class UnusableError(Exception):
    """A file cannot be read, and why; `about` names what is wrong where there is a name."""

    def __init__(self, reason: Reason, about: str = "") -> None:
        super().__init__(reason.value)
        self.reason, self.about = reason, about


@dataclass(frozen=True, slots=True)
class Document:
    """A file in its parts."""

    fields: Mapping[str, Any]
    body: str


def render_document(fields: Mapping[str, Any], body: str) -> bytes:
    """Return the bytes of a file: words, numbers and lists of words above, the text and one line break below."""
    lines = "".join(f"{name}: {render_value(value)}\n" for name, value in fields.items())
    return b"".join((_LIMIT, lines.encode(), _LIMIT, body.encode(), b"\n"))


def render_value(value: Any) -> str:
    """Return a value as JSON that YAML reads alike; simple words stand without quotes."""
    if isinstance(value, str) and _WORD.fullmatch(value) and value not in _AMBIGUOUS:
        return value
    return render_json(value)


def render_json(value: Any) -> str:
    """Return JSON with its letters as they are, and what no YAML may hold as escapes."""
    return _UNPRINTABLE.sub(
        lambda found: f"\\u{ord(found[0]):04x}",
        json.dumps(value, ensure_ascii=False),
    )


def parse_document(content: bytes, *, most: int) -> Document:
    """Return a file of at most so many bytes in its parts; one line break at its end belongs to the file.

    Raises UnusableError.
    """
    if len(content) > most:
        raise UnusableError(Reason.TOO_LARGE, str(most))
    head, body = split(content.removeprefix(b"\xef\xbb\xbf"))
    return Document(parse_fields(head), decode(body))


def split(content: bytes) -> tuple[bytes, bytes]:
    """Return front matter and body; the limits may end in CR LF. Raises UnusableError."""
    unix = content if content.startswith(_LIMIT) else content.replace(b"\r\n", b"\n")
    if not unix.startswith(_LIMIT):
        raise UnusableError(Reason.NO_FRONT_MATTER)
    end = unix.find(_END, len(_LIMIT) - 1, MAX_BYTES + len(_END))
    if end < 0:
        is_long = len(unix) > MAX_BYTES
        raise UnusableError(Reason.FRONT_MATTER_TOO_LARGE if is_long else Reason.NO_FRONT_MATTER)
    return unix[len(_LIMIT) : end + 1], unix[end + len(_END) :].removesuffix(b"\n")


def decode(content: bytes) -> str:
    """Return bytes as text. Raises UnusableError."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise UnusableError(Reason.NOT_UTF8) from None


def parse_fields(head: bytes) -> dict[str, Any]:
    """Return the fields of front matter. Raises UnusableError."""
    try:
        events = yaml.parse(decode(head), Loader=_LOADER)
        values = [read_node(event, events, depth=1) for event in events if isinstance(event, yaml.NodeEvent)]
        if len(values) != 1:
            raise UnusableError(Reason.NOT_YAML)
        value = values[0]
    except (yaml.YAMLError, ValueError):
        raise UnusableError(Reason.NOT_YAML) from None
    if not isinstance(value, dict):
        raise UnusableError(Reason.NO_FRONT_MATTER)
    return value


def read_node(event: yaml.Event, events: Iterator[yaml.Event], *, depth: int) -> Any:
    """Return the value that begins with this event. Raises UnusableError."""
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise UnusableError(Reason.ALIAS)
    if getattr(event, "tag", None) is not None:
        raise UnusableError(Reason.TAG)
    if depth > MAX_DEPTH:
        raise UnusableError(Reason.TOO_DEEP)
    if isinstance(event, yaml.ScalarEvent):
        return read_plain(event.value) if event.implicit[0] else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        return list(read_items(events, depth=depth + 1))
    return read_mapping(events, depth=depth + 1)


def read_items(events: Iterator[yaml.Event], *, depth: int) -> Iterator[Any]:
    """Yield the values up to the end of a list or mapping. Raises UnusableError."""
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            return
        yield read_node(event, events, depth=depth)


def read_mapping(events: Iterator[yaml.Event], *, depth: int) -> dict[str, Any]:
    """Return a mapping of names to values. Raises UnusableError."""
    found: dict[str, Any] = {}
    items = read_items(events, depth=depth)
    for name in items:
        value = next(items)
        if not isinstance(name, str) or name == "<<":
            raise UnusableError(Reason.NOT_YAML)
        if name in found:
            raise UnusableError(Reason.DUPLICATE_KEY, name[:64])
        found[name] = value
    return found


def read_plain(text: str) -> Any:
    """Return what a word without quotes means. Raises UnusableError for a number that no column holds."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if _NO_NUMBER.fullmatch(text):
        raise UnusableError(Reason.NOT_FINITE)
    if _INTEGER.fullmatch(text):
        if len(text.lstrip("-")) > MAX_DIGITS:
            raise UnusableError(Reason.NOT_FINITE)
        return int(text)
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text)
    if not math.isfinite(number):
        raise UnusableError(Reason.NOT_FINITE)
    return number
