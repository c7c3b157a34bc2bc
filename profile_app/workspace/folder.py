"""The folder that copies an owner's files: read and written by allowed names alone, below one opened directory.

Nothing here follows a link or leaves the folder, and each file is replaced at once or not at all. A folder belongs to a
workspace by its mark file, whose lock lets one process at a time work in it.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import monotonic, sleep

from profile_app.documents.core import MAX_CHARS, WORKSPACE_FILE
from profile_app.workspace.core.names import MEMORY_FOLDER, FileName, is_spelled_as_note
from profile_app.workspace.core.problems import FileProblem, ProblemCode

MARK_FILE = ".minara"
MARK_LINE = "minara workspace "
MARK_BYTES = 200
UNREADABLE_MARK = "?"
MAX_BYTES = 4 * MAX_CHARS[WORKSPACE_FILE]
"""UTF-8 has at most four bytes a character."""
MAX_ENTRIES = 10_000
"""How many names of `memory/` are looked at."""
NO_FILE = "none"
LOCK_SECONDS = 2.0
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NotHere(Exception):
    """There is no folder of this workspace on this machine."""


@dataclass(slots=True)
class Folder:
    """An opened folder. `notes` is its `memory`, None where there is none."""

    root: int
    notes: int | None
    notes_problem: ProblemCode | None
    opened: ExitStack = field(repr=False)

    def list_notes(self) -> list[str]:
        """Return the names in `memory/`, in no order. Raises FileProblem when it cannot be listed."""
        if self.notes_problem:
            raise FileProblem(self.notes_problem)
        if self.notes is None:
            return []
        with os.scandir(self.notes) as entries:
            return [f"{MEMORY_FOLDER}/{entry.name}" for entry in islice(entries, MAX_ENTRIES)]

    def stamp(self, name: str) -> str:
        """Return times and size of a file, `none` where there is none. Raises FileProblem for what is no plain file."""
        base, directory = self._place(name)
        if directory is None:
            return NO_FILE
        try:
            found = os.stat(base, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return NO_FILE
        except OSError as error:
            raise FileProblem(ProblemCode.UNREADABLE) from error
        check_plain(found)
        return stamp_of(found)

    def read(self, name: str) -> bytes:
        """Return the bytes of a file, none without one. Raises FileProblem also for too many."""
        base, directory = self._place(name)
        if directory is None:
            return b""
        try:
            opened = os.open(base, _READ, dir_fd=directory)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise FileProblem(ProblemCode.UNREADABLE) from error
        with os.fdopen(opened, "rb") as file:
            check_plain(os.fstat(opened))
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise FileProblem(ProblemCode.TOO_LARGE)
        return data

    def write(self, name: str, data: bytes) -> str:
        """Replace a file at once and return its stamp. Raises FileProblem, then it says what it said before."""
        try:
            base, directory = self._place(name, is_made=True)
            assert directory is not None
            return replace_file(base, directory, data)
        except OSError as error:
            raise FileProblem(ProblemCode.NOT_WRITTEN) from error

    def rename(self, name: str, new_name: str) -> None:
        """Rename a file beside the notes. Raises FileProblem."""
        try:
            os.rename(name, new_name, src_dir_fd=self.root, dst_dir_fd=self.root)
        except OSError as error:
            raise FileProblem(ProblemCode.NOT_WRITTEN) from error

    def remove(self, name: str) -> None:
        """Remove a file."""
        base, directory = self._place(name)
        if directory is not None:
            os.unlink(base, dir_fd=directory)

    def _place(self, name: str, *, is_made: bool = False) -> tuple[str, int | None]:
        """Return what a file is called in its directory, and that directory."""
        if not name.startswith(f"{MEMORY_FOLDER}/"):
            return name, self.root
        if self.notes_problem:
            raise FileProblem(self.notes_problem)
        if self.notes is None and is_made:
            os.mkdir(MEMORY_FOLDER, 0o700, dir_fd=self.root)
            self.notes = open_notes(self.root)
            self.opened.callback(os.close, self.notes)
        return name.removeprefix(f"{MEMORY_FOLDER}/"), self.notes


@contextmanager
def open_folder(path: Path, mark: str) -> Iterator[Folder]:
    """Open the folder of the workspace with this mark, alone among all processes.

    Raises NotHere when there is none or it is another's, and FileProblem when it cannot be read.
    """
    with ExitStack() as opened:
        try:
            root = os.open(path, _DIRECTORY)
            opened.callback(os.close, root)
            lock = open_mark(root)
            opened.callback(os.close, lock)
            found = mark_of(lock)
        except FileNotFoundError as error:
            raise NotHere from error
        except OSError as error:
            raise FileProblem(ProblemCode.UNREADABLE_FOLDER) from error
        if found != mark:
            raise NotHere
        wait_for_lock(lock)
        notes, problem = None, None
        try:
            notes = open_notes(root)
            opened.callback(os.close, notes)
        except FileNotFoundError:
            pass
        except OSError:
            is_link = stat.S_ISLNK(os.stat(MEMORY_FOLDER, dir_fd=root, follow_symlinks=False).st_mode)
            problem = ProblemCode.SYMLINK if is_link else ProblemCode.UNREADABLE
        yield Folder(root, notes, problem, opened)


def make_folder(path: Path, mark: str) -> None:
    """Make a folder, or mark one that is there. Raises FileProblem."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        root = os.open(path, _DIRECTORY)
        try:
            replace_file(MARK_FILE, root, f"{MARK_LINE}{mark}\n".encode())
        finally:
            os.close(root)
    except OSError as error:
        raise FileProblem(ProblemCode.UNREADABLE_FOLDER) from error


def open_mark(root: int) -> int:
    """Open the mark file of a folder. Raises FileProblem for what is no plain file of one name, and OSError."""
    opened = os.open(MARK_FILE, _READ, dir_fd=root)
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(opened)
        raise FileProblem(ProblemCode.UNREADABLE_FOLDER)
    return opened


def mark_of(opened: int) -> str:
    """Return the mark that an opened mark file holds."""
    return os.read(opened, MARK_BYTES).decode("ascii", "replace").strip().removeprefix(MARK_LINE)


def read_mark(path: Path) -> tuple[str, str]:
    """Return the mark of a folder, empty where there is none and `?` where it cannot be read, and that file's stamp.

    A copy of the file has another stamp.
    """
    with ExitStack() as stack:
        try:
            root = os.open(path, _DIRECTORY)
            stack.callback(os.close, root)
            opened = open_mark(root)
            stack.callback(os.close, opened)
            return mark_of(opened), stamp_of(os.fstat(opened))
        except FileNotFoundError:
            return "", ""
        except (OSError, FileProblem):
            return UNREADABLE_MARK, ""


def has_files(path: Path) -> bool:
    """Say whether a folder holds agent files, or what cannot be read, or more than is looked at."""
    with ExitStack() as stack:
        try:
            root = os.open(path, _DIRECTORY)
            stack.callback(os.close, root)
            if any(is_there(name, root) for name in FileName):
                return True
            notes = open_notes(root)
            stack.callback(os.close, notes)
            with os.scandir(notes) as entries:
                names = [entry.name for entry in islice(entries, MAX_ENTRIES + 1)]
        except FileNotFoundError:
            return False
        except OSError:
            return True
    return len(names) > MAX_ENTRIES or any(is_spelled_as_note(f"{MEMORY_FOLDER}/{name}") for name in names)


def is_there(name: str, directory: int) -> bool:
    """Say whether a directory has this name, whatever it is."""
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def open_notes(root: int) -> int:
    """Open the directory of the notes."""
    return os.open(MEMORY_FOLDER, _DIRECTORY | os.O_NOFOLLOW, dir_fd=root)


def wait_for_lock(lock: int) -> None:
    """Wait a moment for other processes in the folder. Raises FileProblem."""
    ends_at = monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if monotonic() >= ends_at:
                raise FileProblem(ProblemCode.BUSY) from error
            sleep(0.02)
        else:
            return


def check_plain(found: os.stat_result) -> None:
    """Raise FileProblem unless this is a plain file of a size that is read."""
    if stat.S_ISLNK(found.st_mode):
        raise FileProblem(ProblemCode.SYMLINK)
    if not stat.S_ISREG(found.st_mode):
        raise FileProblem(ProblemCode.NOT_A_FILE)
    if found.st_size > MAX_BYTES:
        raise FileProblem(ProblemCode.TOO_LARGE)


def stamp_of(found: os.stat_result) -> str:
    """Return what tells that a file is the same as before."""
    return f"{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_size}"


def replace_file(base: str, directory: int, data: bytes) -> str:
    """Write a file beside the one of this name, then take its place; return the stamp. Keeps its permissions."""
    spare = f".{base}.minara"
    mode = 0o600
    try:
        found = os.stat(base, dir_fd=directory, follow_symlinks=False)
        check_plain(found)
        mode = stat.S_IMODE(found.st_mode)
    except FileNotFoundError:
        pass
    with suppress(FileNotFoundError):  # there is one of a process that ended between the two
        os.unlink(spare, dir_fd=directory)
    opened = os.open(spare, _NEW, 0o600, dir_fd=directory)
    with os.fdopen(opened, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(opened, mode)
        os.fsync(opened)
    os.replace(spare, base, src_dir_fd=directory, dst_dir_fd=directory)
    os.fsync(directory)
    return stamp_of(os.stat(base, dir_fd=directory, follow_symlinks=False))
