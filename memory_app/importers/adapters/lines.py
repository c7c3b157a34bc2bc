"""Read files line by line: Markdown notes and JSON lines, never more than a line of an untrusted length at a time."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from django.utils.translation import gettext as _

from memory_app.importers.adapters.found import MIB, Found, record_problem, too_large, unreadable
from memory_app.importers.core import jsonl
from memory_app.importers.core.entries import Item, Line, Refusal
from memory_app.importers.core.fields import UnusableError
from minara_site.kernel.errors import MinaraError
from minara_site.web.json_body import read_json

MAX_LINE_BYTES = MIB
MAX_NOTE_BYTES = MIB  # its lines are held at once
Parser = Callable[[Iterable[Line]], Iterable[Item]]


def read_inside(root: Path, name: str, parse: Parser) -> Iterator[Found]:
    """Read one file of a directory, unless it is a link that leads out of it, no plain file, or too large."""
    path = root / name
    try:
        target = path.resolve(strict=True)
        if not target.is_relative_to(root.resolve()):
            yield Found(name, Refusal(0, _("it is a link that leads out of the directory")))
        elif not target.is_file():
            yield Found(name, Refusal(0, _("it is no plain file")))
        elif target.stat().st_size > MAX_NOTE_BYTES:
            yield Found(name, Refusal(0, too_large(MAX_NOTE_BYTES)))
        else:
            yield from read_file(target, name, parse)
    except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links
        yield unreadable(name, error)


def read_file(path: Path, name: str, parse: Parser) -> Iterator[Found]:
    """Read one file with its parser; what was read before the system refused more stands."""
    try:
        for item in parse(read_lines(path)):
            yield Found(name, item)
    except OSError as error:
        yield unreadable(name, error)


def read_lines(path: Path) -> Iterator[Line]:
    """Read lines of UTF-8, with or without byte order mark and carriage returns, never more than one at a time."""
    number = 0
    with path.open("rb") as stream:
        while raw := stream.readline(MAX_LINE_BYTES):
            number += 1
            is_whole = len(raw) < MAX_LINE_BYTES or raw.endswith(b"\n")
            while not is_whole and (rest := stream.readline(MAX_LINE_BYTES)):
                is_whole = rest.endswith(b"\n")
                raw = b""
            yield decode_line(number, raw)


def decode_line(number: int, raw: bytes) -> Line:
    """Return a line as text; one that was cut off or is not UTF-8 carries the problem instead."""
    if not raw:
        return Line(
            number,
            "",
            _("the line is longer than %(most)d MiB") % {"most": MAX_LINE_BYTES // MIB},
        )
    try:
        return Line(
            number,
            raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n"),
        )
    except UnicodeDecodeError:
        return Line(number, "", _("the line is not UTF-8"))


def parse_json_lines(lines: Iterable[Line]) -> Iterator[Item]:
    """Read each line as strict JSON; empty lines say nothing."""
    for line in lines:
        if line.problem:
            yield Refusal(line.number, line.problem)
        elif line.text.strip():
            try:
                yield jsonl.read_record(line.number, read_json(line.text.encode()))
            except (UnusableError, MinaraError) as error:
                yield Refusal(line.number, record_problem(error))
