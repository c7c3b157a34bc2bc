"""The files of transfers: kept in the database, copied to this machine while one works with them.

The copies are in a folder of the data folder, open to this user alone and never read by an agent.
"""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from zipfile import ZIP_DEFLATED, ZipFile

from django.conf import settings

from minara_site.kernel.files.models import StoredFile
from minara_site.kernel.files.services import MIB, read_file, store_file

FOLDER = "transfers"
MAX_UPLOAD_BYTES = 64 * MIB
ZIP_MAGIC = b"PK"


def upload_folder() -> Path:
    """Return the folder of the copies, made with mode 0700 at the first call."""
    folder = Path(settings.DATA_DIR) / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def store_upload(
    chunks: Iterable[bytes],
    *,
    now: datetime,
    expires_at: datetime,
) -> tuple[StoredFile, bool]:
    """Store an upload; return it, and whether it is a zip file. Raises Invalid when it is empty or too large."""
    rest = iter(chunks)
    start = next(rest, b"")
    stored = store_file(
        chain([start], rest),
        now=now,
        expires_at=expires_at,
        max_bytes=MAX_UPLOAD_BYTES,
    )
    return stored, start.startswith(ZIP_MAGIC)


def store_packed(packed: Path, *, now: datetime, expires_at: datetime) -> StoredFile:
    """Store a file of this machine."""
    with packed.open("rb") as stream:
        return store_file(
            iter(partial(stream.read, MIB), b""),
            now=now,
            expires_at=expires_at,
        )


def pack(tree: Path, packed: Path) -> None:
    """Write a folder as a zip file, its files in the order of their names."""
    with ZipFile(packed, "x", ZIP_DEFLATED) as archive:
        for each in sorted(path for path in tree.rglob("*") if path.is_file()):
            archive.write(each, each.relative_to(tree).as_posix())


@contextmanager
def workbench() -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    folder = Path(mkdtemp(dir=upload_folder()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def opened(name: str) -> Iterator[Path]:
    """Give a copy of a stored file, which is gone afterwards. Raises Gone."""
    with workbench() as bench:
        with (bench / name).open("xb") as stream:
            stream.writelines(read_file(name))
        yield bench / name


def remove_strays(*, older_than: float) -> int:
    """Remove what dead workers of this machine left before this moment (Unix seconds); return how many."""
    strays = [path for path in upload_folder().iterdir() if path.lstat().st_mtime < older_than]
    for path in strays:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(strays)
