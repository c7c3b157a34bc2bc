"""Open what a person points at: a workspace directory or a file of JSON lines. Links that lead out are refused."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.importers.core import hermes, jsonl, openclaw
from memory_app.importers.core.entries import Item, Line, Refusal
from memory_app.memories.core import Category
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.errors import MinaraError, NotFound
from minara_site.web.json_body import read_json

MIB = 1024 * 1024
MAX_LINE_BYTES = MIB
MAX_NOTE_BYTES = 4 * MIB
EXPECTED: dict[jsonl.Expected, str | Promise] = {
    jsonl.Expected.RECORD: gettext_lazy("expected an object"),
    jsonl.Expected.ONE_CONTENT: gettext_lazy("expected exactly one of %(choices)s"),
    jsonl.Expected.TEXT: gettext_lazy("%(field)s: expected text"),
    jsonl.Expected.OBJECT: gettext_lazy("%(field)s: expected an object"),
    jsonl.Expected.MEMBER: gettext_lazy("%(field)s: expected one of %(choices)s"),
    jsonl.Expected.TIME: gettext_lazy("%(field)s: expected a time such as 2026-06-12T12:00:00Z"),
    jsonl.Expected.TIME_SINCE_1970: gettext_lazy("%(field)s: lies before 1970"),
    jsonl.Expected.TEXTS: gettext_lazy("%(field)s: expected a list of texts"),
}
Parser = Callable[[Iterable[Line]], Iterable[Item]]


class Format(StrEnum):
    """What the memories come from."""

    OPENCLAW = "openclaw"
    HERMES = "hermes"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class Found:
    """One entry or refusal, and the file it stands in, named from the root of the import."""

    file: str
    item: Item


@dataclass(frozen=True, slots=True)
class Bundle:
    """What an import reads, one entry at a time, and how many files beside it were left alone."""

    format: Format
    found: Iterator[Found]
    ignored: int = 0


SUBFOLDERS = {Format.OPENCLAW: "workspace", Format.HERMES: "memories"}  # where an agent's home keeps the files


def open_bundle(path: Path, source_format: Format) -> Bundle:
    """Open a path. Raises NotFound when it holds nothing of this format."""
    if source_format is Format.JSONL:
        if not path.is_file():
            raise NotFound(_("%(path)s: expected a file of JSON lines.") % {"path": path})
        name = visible(os.fsencode(path.name).decode(errors="replace"))
        return Bundle(source_format, read_file(path, name, parse_json_lines))
    list_files = openclaw_files if source_format is Format.OPENCLAW else hermes_files
    for root in (path, path / SUBFOLDERS[source_format]):
        known = list_files(root)
        if known:
            parts = [read_inside(root, name, parse) for name, parse in known.items()]
            return Bundle(source_format, chain.from_iterable(parts), count_others(root, set(known)))
    problem = _("%(path)s: found no MEMORY.md or USER.md. Point at the %(format)s directory that holds them.")
    raise NotFound(problem % {"path": path, "format": source_format})


def openclaw_files(root: Path) -> dict[str, Parser]:
    """Return the files to read with their parsers, daily notes last and from the oldest on."""
    files: dict[str, Parser] = {"MEMORY.md": openclaw.parse_memory, "USER.md": openclaw.parse_user}
    known = {name: parse for name, parse in files.items() if is_there(root / name)}
    for note in sorted((root / "memory").glob("*.md")):
        day = openclaw.note_date(note.name)
        if day is not None:
            known[f"memory/{note.name}"] = partial(openclaw.parse_daily_note, day=day)
    return known


def hermes_files(root: Path) -> dict[str, Parser]:
    """Return the files to read with their parsers."""
    files = {"MEMORY.md": Category.OBSERVATION, "USER.md": Category.PERSONALIZATION}
    return {
        name: partial(hermes.parse_entries, category=category)
        for name, category in files.items()
        if is_there(root / name)
    }


def is_there(path: Path) -> bool:
    """Say whether the directory has such an entry, a broken link included."""
    return path.is_symlink() or path.exists()


def count_others(root: Path, known: set[str]) -> int:
    """Return how many entries of the root and its memory folder are not read."""
    names = [entry.name for entry in root.iterdir() if entry.name != "memory"]
    if (root / "memory").is_dir():
        names += [f"memory/{entry.name}" for entry in (root / "memory").iterdir()]
    return sum(name not in known for name in names)


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
            yield Found(name, Refusal(0, _("it is larger than %(most)d MiB") % {"most": MAX_NOTE_BYTES // MIB}))
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


def unreadable(name: str, error: Exception) -> Found:
    """Return the refusal of a file that the system does not let us read."""
    cause = getattr(error, "strerror", None) or error
    return Found(name, Refusal(0, _("it cannot be read: %(cause)s") % {"cause": cause}))


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
        return Line(number, "", _("the line is longer than %(most)d MiB") % {"most": MAX_LINE_BYTES // MIB})
    try:
        return Line(number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n"))
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
            except jsonl.UnusableError as unusable:
                yield Refusal(line.number, unusable_words(unusable))
            except MinaraError as error:
                yield Refusal(line.number, error.detail)


def unusable_words(error: jsonl.UnusableError) -> str:
    """Return what is wrong with a record, in the reader's language."""
    return EXPECTED[error.expected] % {"field": error.field, "choices": ", ".join(error.choices)}
