"""The folder of transfers in the data folder: random names, open to this user alone, never read by an agent."""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Invalid

FOLDER = "transfers"
MAX_UPLOAD_BYTES = 64 * 1024 * 1024
ZIP_MAGIC = b"PK"
CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored file."""

    name: str
    sha256: str
    size_bytes: int
    is_zip: bool


def upload_folder() -> Path:
    """Return the folder, made with mode 0700 at the first call."""
    folder = Path(settings.DATA_DIR) / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def path_of(name: str) -> Path:
    """Return where a stored file lies."""
    return upload_folder() / Path(name).name


def new_name() -> str:
    """Return a name that nobody guesses."""
    return f"{secrets.token_hex(16)}.bin"


def store_upload(chunks: Iterable[bytes]) -> Stored:
    """Write an upload piece by piece. Raises Invalid when it is empty or too large; then nothing stays."""
    name = new_name()
    try:
        return write_upload(name, chunks)
    except BaseException:
        remove(name)
        raise


def write_upload(name: str, chunks: Iterable[bytes]) -> Stored:
    """Write the pieces of an upload into a new file. Raises Invalid when it is empty or too large."""
    digest, size, start = hashlib.sha256(), 0, b""
    with open_new(path_of(name)) as stream:
        for chunk in chunks:
            size += len(chunk)
            if size > MAX_UPLOAD_BYTES:
                raise Invalid(_("Choose a file of at most %(most)d MiB.") % {"most": MAX_UPLOAD_BYTES // CHUNK})
            start = start or chunk[: len(ZIP_MAGIC)]
            digest.update(chunk)
            stream.write(chunk)
    if not size:
        raise Invalid(_("This file is empty."))
    return Stored(name, digest.hexdigest(), size, start == ZIP_MAGIC)


@contextmanager
def open_new(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that does not exist yet, for this user alone."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as stream:
        yield stream


def pack(tree: Path) -> Stored:
    """Write a folder as a zip file, its files in the order of their names."""
    name = new_name()
    target = path_of(name)
    try:
        with open_new(target) as stream, ZipFile(stream, "w", ZIP_DEFLATED) as archive:
            for each in sorted(path for path in tree.rglob("*") if path.is_file()):
                archive.write(each, each.relative_to(tree).as_posix())
        return Stored(name, sha256_of(name), target.stat().st_size, is_zip=True)
    except BaseException:
        remove(name)
        raise


def sha256_of(name: str) -> str:
    """Return the SHA-256 of a stored file; empty when it is gone."""
    digest = hashlib.sha256()
    try:
        with path_of(name).open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    except FileNotFoundError:
        return ""
    return digest.hexdigest()


@contextmanager
def workbench() -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    folder = Path(mkdtemp(dir=upload_folder()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove(name: str) -> None:
    """Remove a stored file, if it is there."""
    if name:
        path_of(name).unlink(missing_ok=True)


def remove_strays(known: Iterable[str], *, older_than: float) -> int:
    """Remove what no transfer names and nobody touched since this moment (Unix seconds); return how many."""
    kept, gone = set(known), 0
    for path in upload_folder().iterdir():
        if path.name in kept or path.lstat().st_mtime >= older_than:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        gone += 1
    return gone
