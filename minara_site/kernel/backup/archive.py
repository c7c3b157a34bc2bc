"""The file of a backup: a zip with `manifest.json` as its last member, and a seal over every byte before the seal.

The seal is the end of the zip's comment: the SHA-256 of all that stands before it, so that any changed byte and any cut
is found before something is touched. It proves that the file is whole, not who wrote it.
"""

import hashlib
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, ValidationError

from minara_site.kernel.errors import Refused

FORMAT = 1
BLOCK = 1024 * 1024
SEAL_CHARS = 64
SEAL = re.compile(rb"minara-backup-([0-9]+):([0-9a-f]{64})\Z")
MANIFEST = "manifest.json"
WORKSPACE = "workspace"
SECRET_KEY = "secret_key"  # noqa: S105 - the name of a file
FILES = {"default": "minara.db", "queue": "queue.db"}
UNREADABLE = (zipfile.BadZipFile, KeyError, ValidationError, OSError)


class Member(BaseModel):
    """What a member is once it is unpacked."""

    size: int
    sha256: str


class Manifest(BaseModel):
    """What is in a backup. `columns` and `sequences` are of PostgreSQL, whose tables are members each."""

    model_config = ConfigDict(frozen=True)

    minara: str
    engine: str
    instance: str
    created_at: datetime
    migrations: list[tuple[str, str]]
    rows: dict[str, int]
    columns: dict[str, list[str]] = {}
    sequences: dict[str, int] = {}
    members: dict[str, Member] = {}

    @property
    def has_secret_key(self) -> bool:
        """Whether the key is in it; one of the environment is not."""
        return SECRET_KEY in self.members


class Writer:
    """Fills the zip, one member after the other."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.members: dict[str, Member] = {}

    @contextmanager
    def member(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """Yield what writes the member's bytes."""
        digest, size = hashlib.sha256(), 0
        with self.archive.open(name, "w", force_zip64=True) as stream:

            def write(block: bytes) -> None:
                nonlocal size
                stream.write(block)
                digest.update(block)
                size += len(block)

            yield write
        self.members[name] = Member(size=size, sha256=digest.hexdigest())

    def add_file(self, name: str, path: Path) -> None:
        """Add what a file holds now; a link is not followed. Raises OSError."""
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream, self.member(name) as write:
            while block := stream.read(BLOCK):
                write(block)


def write_archive(path: Path, fill: Callable[[Writer], Manifest]) -> str:
    """Write a backup for this user alone, and down to the disk; return its seal."""
    with (
        os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as stream,
    ):
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            writer = Writer(archive)
            manifest = fill(writer).model_copy(update={"members": writer.members})
            archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
            archive.comment = f"minara-backup-{FORMAT}:".encode() + b"0" * SEAL_CHARS
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
    while left > 0 and (block := stream.read(min(BLOCK, left))):
        digest.update(block)
        left -= len(block)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that is open and proved whole."""

    archive: zipfile.ZipFile
    manifest: Manifest
    seal: str

    def read(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a member. Raises Refused at the end of one that is not what the manifest says."""
        digest = hashlib.sha256()
        with self.archive.open(name) as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
                yield block
        if digest.hexdigest() != self.manifest.members[name].sha256:
            raise Refused(_("%(name)s is not what the backup's manifest says. Take another file.") % {"name": name})


@contextmanager
def open_backup(path: Path) -> Iterator[Backup]:
    """Read the whole file and prove it. Raises Refused with what is wrong."""
    said = {"file": path}
    try:
        stream = path.open("rb")
    except OSError as error:
        raise Refused(_("%(file)s cannot be read: %(why)s.") % {**said, "why": error.strerror}) from None
    with stream:
        stream.seek(max(stream.seek(0, os.SEEK_END) - BLOCK, 0))
        found = SEAL.search(stream.read())
        if found is None:
            raise Refused(_("%(file)s is no backup of Minara, or it was cut off. Take another file.") % said)
        if int(found[1]) != FORMAT:
            raise Refused(_("%(file)s was written by a newer Minara. Install that version, then restore.") % said)
        if digest_of(stream).encode() != found[2]:
            raise Refused(_("%(file)s was damaged after it was written. Take another copy of it.") % said)
        try:
            archive = zipfile.ZipFile(stream)
            manifest = Manifest.model_validate_json(archive.read(MANIFEST))
        except UNREADABLE:
            raise Refused(_("%(file)s holds no list of what is in it. Take another file.") % said) from None
        names = {*archive.namelist()} - {MANIFEST}
        if names != manifest.members.keys() or any(".." in PurePosixPath(name).parts for name in names):
            raise Refused(_("%(file)s does not hold what its list says. Take another file.") % said)
        with archive:
            yield Backup(archive, manifest, found[2].decode())


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest of a file without proving it; None says that it is no whole backup."""
    try:
        with zipfile.ZipFile(path) as archive:
            is_sealed = SEAL.fullmatch(archive.comment)
            return Manifest.model_validate_json(archive.read(MANIFEST)) if is_sealed else None
    except UNREADABLE:
        return None
