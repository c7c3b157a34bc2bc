"""Open what a person points at: a directory of notes, or a file of one of the products. Nothing of it ever runs."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path

from django.utils.translation import gettext as _

from memory_app.importers.adapters.database import read_database
from memory_app.importers.adapters.documents import LETTA, MEM0, read_backup, read_document
from memory_app.importers.adapters.found import Found, unusable_label
from memory_app.importers.adapters.lines import Parser, parse_json_lines, read_file, read_inside
from memory_app.importers.core import hermes, openclaw
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.errors import NotFound

__all__ = ["Bundle", "Format", "Found", "open_bundle", "unusable_label"]


class Format(StrEnum):
    """What the memories come from."""

    MINARA = "minara"
    OPENCLAW = "openclaw"
    HERMES = "hermes"
    MEM0 = "mem0"
    OPENMEMORY = "openmemory"
    LETTA = "letta"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class Bundle:
    """What an import reads, one entry at a time, and how many files beside it were left alone."""

    format: Format
    found: Iterator[Found]
    ignored: int = 0


FILES: dict[Format, Callable[[Path, str], Iterator[Found]]] = {
    Format.MINARA: read_database,
    Format.MEM0: partial(read_document, document=MEM0),
    Format.OPENMEMORY: read_backup,
    Format.LETTA: partial(read_document, document=LETTA),
    Format.JSONL: partial(read_file, parse=parse_json_lines),
}
SUBFOLDERS = {Format.OPENCLAW: "workspace", Format.HERMES: "memories"}  # where an agent's home keeps the files


def open_bundle(path: Path, source_format: Format, *, name: str = "") -> Bundle:
    """Open a path; `name` is what its owner calls the file. Raises NotFound when it holds nothing of this format."""
    if source_format in FILES:
        if not path.is_file():
            problem = _("%(path)s: expected a file of the format %(format)s.")
            raise NotFound(problem % {"path": path, "format": source_format})
        shown = visible(name or os.fsencode(path.name).decode(errors="replace"))
        return Bundle(source_format, FILES[source_format](path, shown))
    return open_directory(path, source_format)


def open_directory(path: Path, source_format: Format) -> Bundle:
    """Open a directory of notes, or an agent's home that has one. Raises NotFound."""
    list_files = openclaw_files if source_format is Format.OPENCLAW else hermes_files
    for root in (path, path / SUBFOLDERS[source_format]):
        known = list_files(root)
        if known:
            parts = [read_inside(root, name, parse) for name, parse in known.items()]
            return Bundle(
                source_format,
                chain.from_iterable(parts),
                count_others(root, set(known)),
            )
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
