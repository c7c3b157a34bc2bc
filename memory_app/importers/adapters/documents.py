"""Read a whole JSON document, or one out of a zip, within bounds; nothing is ever unpacked to disk."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from django.utils.translation import gettext as _

from memory_app.importers.adapters.found import MIB, Found, parse_records, record_problem, too_large, unreadable
from memory_app.importers.core import letta, mem0, openmemory
from memory_app.importers.core.entries import Item, Record, Refusal
from memory_app.importers.core.fields import UnusableError, read_id
from minara_site.kernel.core.zips import BROKEN
from minara_site.kernel.errors import Invalid, MinaraError
from minara_site.web.json_body import parse_json

MAX_DOCUMENT_BYTES = 16 * MIB
MAX_VALUES = 300_000  # objects and lists of a document: each weighs far more in memory than in the file
MAX_MEMBERS = 100
ZIP_MAGIC, GZIP_MAGIC = b"PK\x03\x04", b"\x1f\x8b"
BACKUP, BACKUP_LINES = "memories.json", "memories.jsonl.gz"
ENCRYPTED = 0x1
METHODS = frozenset({ZIP_STORED, ZIP_DEFLATED})  # `zipfile` unpacks the others without bound
Reader = Callable[[Record], Iterable[Item]]


@dataclass(frozen=True, slots=True)
class Document:
    """How a format's JSON is read: its records, and the entries of one."""

    list_records: Callable[[Any], Iterable[Record]]
    read_record: Reader


MEM0 = Document(mem0.list_records, mem0.read_record)
LETTA = Document(letta.list_records, letta.read_record)
OPENMEMORY = Document(openmemory.list_records, openmemory.read_record)


def read_document(path: Path, name: str, document: Document) -> Iterator[Found]:
    """Read a JSON file. What is wrong with all of it is one refusal, what is wrong with a record another."""
    try:
        body = path.open("rb").read(MAX_DOCUMENT_BYTES + 1)
        records = document.list_records(parse_document(body))
    except OSError as error:
        yield unreadable(name, error)
    except (UnusableError, MinaraError) as error:
        yield Found(name, Refusal(0, record_problem(error)))
    else:
        yield from (Found(name, item) for item in parse_records(records, document.read_record))


def parse_document(body: bytes) -> Any:
    """Return the value of a JSON text; one that is itself a JSON text in quotes is read once more. Raises Invalid."""
    if len(body) > MAX_DOCUMENT_BYTES:
        raise Invalid(too_large(MAX_DOCUMENT_BYTES))
    if body.count(b"{") + body.count(b"[") > MAX_VALUES:
        raise Invalid(_("it has more than %(most)d objects and lists") % {"most": MAX_VALUES})
    value = parse_json(body.removeprefix(b"\xef\xbb\xbf"))
    return parse_json(value.encode(errors="replace")) if isinstance(value, str) else value


def read_backup(path: Path, name: str) -> Iterator[Found]:
    """Read a backup of OpenMemory: the zip, or one of the two files of it alone."""
    try:
        with path.open("rb") as stream:
            start = stream.read(len(ZIP_MAGIC))
        if start == ZIP_MAGIC:
            yield from read_zip(path, name)
        elif start.startswith(GZIP_MAGIC):
            with path.open("rb") as stream:
                yield from read_gzip_lines(stream, name)
        else:
            yield from read_document(path, name, OPENMEMORY)
    except OSError as error:
        yield unreadable(name, error)


def read_zip(path: Path, name: str) -> Iterator[Found]:
    """Read `memories.json` of a zip, or `memories.jsonl.gz` where that is missing."""
    try:
        with ZipFile(path) as archive:
            chosen = choose_member(archive.infolist())
            member = f"{name}/{chosen.filename.rsplit('/', 1)[-1]}"
            with archive.open(chosen) as stream:
                if chosen.filename.endswith(BACKUP_LINES):
                    yield from read_gzip_lines(stream, member)
                else:
                    records = openmemory.list_records(parse_document(stream.read(MAX_DOCUMENT_BYTES + 1)))
                    yield from (Found(member, item) for item in parse_records(records, openmemory.read_record))
    except (UnusableError, MinaraError) as error:
        yield Found(name, Refusal(0, record_problem(error)))
    except BROKEN as error:
        yield Found(
            name,
            Refusal(0, _("this zip cannot be read: %(cause)s") % {"cause": error}),
        )


def choose_member(members: list[ZipInfo]) -> ZipInfo:
    """Return the one file to read. Raises Invalid for a zip that no backup is."""
    if len(members) > MAX_MEMBERS:
        raise Invalid(_("it has more than %(most)d files; a backup has two") % {"most": MAX_MEMBERS})
    for wanted in (BACKUP, BACKUP_LINES):
        found = [each for each in members if each.filename.rsplit("/", 1)[-1] == wanted]
        if len(found) > 1:
            raise Invalid(_("it holds %(name)s twice") % {"name": wanted})
        if found and found[0].flag_bits & ENCRYPTED:
            raise Invalid(_("it is encrypted"))
        if found and found[0].compress_type not in METHODS:
            raise Invalid(_("it is packed in a way that is not read here"))
        if found:
            return found[0]
    raise Invalid(_("it holds neither memories.json nor memories.jsonl.gz"))


def read_gzip_lines(stream: IO[bytes], name: str) -> Iterator[Found]:
    """Read compressed JSON lines, no more than a document may have."""
    try:
        with gzip.open(stream) as lines:
            body = lines.read(MAX_DOCUMENT_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        yield Found(name, Refusal(0, _("its compression is broken")))
        return
    if len(body) > MAX_DOCUMENT_BYTES:
        yield Found(name, Refusal(0, too_large(MAX_DOCUMENT_BYTES)))
        return
    for number, line in enumerate(body.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except MinaraError as error:
            yield Found(name, Refusal(number, error.detail))
            continue
        record = Record(number, value, read_id(value))
        yield from (Found(name, item) for item in parse_records([record], openmemory.read_record))
