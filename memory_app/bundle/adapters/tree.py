"""Write the tree of an export: new files only, for this user alone, through no link. Source: S1."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Conflict, Refused

EXPORTS = "exports"
READ_BY_AGENTS = ("sandbox", "workspace")  # folders below the data folder
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@dataclass(frozen=True)
class Tree:
    """A folder that is being filled. Every part of a path is opened by itself, so that none is followed as a link."""

    root: Path
    fd: int
    folders: dict[str, int] = field(default_factory=dict)

    def write(self, path: str, content: bytes) -> None:
        """Write a new file at a relative path. Raises OSError."""
        place = PurePosixPath(path)
        with os.fdopen(
            os.open(
                place.name,
                NEW_FILE,
                0o600,
                dir_fd=self.open_folder(place.parent),
            ),
            "wb",
        ) as stream:
            stream.write(content)

    def open_folder(self, folder: PurePosixPath) -> int:
        """Return the folder at a relative path, made if need be."""
        if not folder.parts:
            return self.fd
        name = str(folder)
        if name not in self.folders:
            above = self.open_folder(folder.parent)
            with suppress(FileExistsError):
                os.mkdir(folder.name, 0o700, dir_fd=above)
            self.folders[name] = os.open(folder.name, FOLDER, dir_fd=above)
        return self.folders[name]

    def close(self) -> None:
        """Close every folder."""
        for fd in (*self.folders.values(), self.fd):
            os.close(fd)


@contextmanager
def new_tree(folder: Path | None, *, now: datetime) -> Iterator[Tree]:
    """Fill a folder, by default a new one under `exports/`; what was begun is removed when filling it fails.

    Raises Conflict when the folder holds something, Refused when it is a link or an agent could read it.
    """
    root, is_ours = (make_default(now), True) if folder is None else make_folder(folder.absolute())
    tree = open_tree(root)
    try:
        yield tree
    except BaseException:
        if is_ours:
            shutil.rmtree(root, ignore_errors=True)
        raise
    finally:
        tree.close()


def make_default(now: datetime) -> Path:
    """Return a new folder that is named by the time; of two in one second the later one gets a number."""
    exports = settings.DATA_DIR / EXPORTS
    exports.mkdir(mode=0o700, exist_ok=True)
    stamp, number = f"{now:%Y%m%dT%H%M%SZ}", 1
    while True:
        root: Path = exports / (stamp if number == 1 else f"{stamp}-{number}")
        with suppress(FileExistsError):
            root.mkdir(mode=0o700)
            return root
        number += 1


def make_folder(folder: Path) -> tuple[Path, bool]:
    """Return the folder that somebody named, and whether it was made for this."""
    target = Path(os.path.realpath(folder))
    for name in READ_BY_AGENTS:
        if target.is_relative_to(Path(os.path.realpath(settings.DATA_DIR / name))):
            problem = _("%(folder)s can be read by agents. Choose a folder that they do not reach.")
            raise Refused(problem % {"folder": folder})
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
        return folder, True
    return folder, False


def open_tree(root: Path) -> Tree:
    """Open a folder that is empty, and shut it to others. Raises Conflict or Refused."""
    try:
        fd = os.open(root, FOLDER)
    except NotADirectoryError:  # a file, or a link to wherever
        raise Refused(_("%(folder)s is no folder, or a link. Choose another.") % {"folder": root}) from None
    if os.listdir(fd):  # noqa: PTH208 - the open folder, whatever lies at its path by now
        os.close(fd)
        raise Conflict(_("%(folder)s holds something already. Choose an empty or a new folder.") % {"folder": root})
    with suppress(PermissionError):  # a file system without modes
        os.fchmod(fd, 0o700)
    return Tree(root, fd)
