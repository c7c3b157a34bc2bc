"""The file of a backup: a zip with `manifest.json` as its last member, and a seal over every byte before the seal.

The seal is the end of the zip's comment: the SHA-256 of all that stands before it, so that any changed byte and any cut
is found before something is touched. It proves that the file is whole, not who wrote it.
"""

import hashlib
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from django.utils.translation import gettext as _
from pydantic import BaseModel

from minara_site.kernel.errors import Refused

FORMAT = b"minara-backup-1:"
BLOCK = 1024 * 1024
SEAL_CHARS = 64
SEAL = re.compile(rb"(minara-backup-[0-9]+:)([0-9a-f]{64})\Z")
MANIFEST = "manifest.json"


class Manifest(BaseModel):
    """What is in a backup. `columns` and `sequences` are of PostgreSQL, whose tables are a member each."""

    minara: str
    engine: str
    instance: str
    created_at: datetime
    migrations: list[tuple[str, str]]
    rows: dict[str, int]
    columns: dict[str, list[str]] = {}
    sequences: dict[str, int] = {}
    members: dict[str, tuple[int, str]] = {}  # bytes and SHA-256 of each


@dataclass(frozen=True, slots=True)
class Writer:
    """Fills the zip, one member after the other."""

    archive: zipfile.ZipFile
    members: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, name: str, blocks: Iterable[bytes | memoryview]) -> None:
        """Add a member."""
        digest, size = hashlib.sha256(), 0
        with self.archive.open(name, "w", force_zip64=True) as stream:
            for block in blocks:
                stream.write(block)
                digest.update(block)
                size += len(block)
        self.members[name] = (size, digest.hexdigest())

    def add_file(self, name: str, path: Path) -> None:
        """Add what a file holds now; a link is not followed. Raises OSError."""
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
            self.add(name, iter(partial(stream.read, BLOCK), b""))


def write_archive(path: Path, fill: Callable[[Writer], Manifest]) -> str:
    """Write a backup for this user alone, down to the disk; return its seal."""
    with os.fdopen(
        os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600),
        "w+b",
    ) as stream:
        with zipfile.ZipFile(
            stream,
            "w",
            zipfile.ZIP_DEFLATED,
            compresslevel=1,
        ) as archive:
            writer = Writer(archive)
            manifest = fill(writer).model_copy(update={"members": writer.members})
            archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
            archive.comment = FORMAT + b"0" * SEAL_CHARS
        seal = digest_of(stream)
        stream.seek(-SEAL_CHARS, os.SEEK_END)
        stream.write(seal.encode())
        stream.flush()
        os.fsync(stream.fileno())
    return seal


def digest_of(stream: BinaryIO) -> str:
    """Return the SHA-256 of a file without the place of its seal."""
    left = stream.seek(0, os.SEEK_END) - SEAL_CHARS
    stream.seek(0)
    digest = hashlib.sha256()
    while block := stream.read(min(BLOCK, left)):
        digest.update(block)
        left -= len(block)
    return digest.hexdigest()


class Backup(NamedTuple):
    """A backup that is open and proved whole."""

    archive: zipfile.ZipFile
    manifest: Manifest


@contextmanager
def open_backup(path: Path) -> Iterator[Backup]:
    """Read the whole file and prove it. Raises Refused with what is wrong."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise Refused(_("%(file)s cannot be read: %(why)s.") % {"file": path, "why": error.strerror}) from None
    with stream:
        stream.seek(max(stream.seek(0, os.SEEK_END) - BLOCK, 0))
        found = SEAL.search(stream.read())
        if found is None:
            raise Refused(_("%(file)s is no backup of Minara, or it was cut off. Take another.") % {"file": path})
        if found[1] != FORMAT:
            raise Refused(_("%(file)s is of another Minara. Install that version, then restore.") % {"file": path})
        if digest_of(stream).encode() != found[2]:
            raise Refused(_("%(file)s was damaged after it was written. Take another copy.") % {"file": path})
        archive = zipfile.ZipFile(stream)
        manifest = Manifest.model_validate_json(archive.read(MANIFEST))
        names = {*archive.namelist()} - {MANIFEST}
        paths = map(PurePosixPath, names)
        if names != manifest.members.keys() or any(path.is_absolute() or ".." in path.parts for path in paths):
            raise Refused(_("%(file)s does not hold what its list says. Take another.") % {"file": path})
        yield Backup(archive, manifest)
