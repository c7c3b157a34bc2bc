"""Open a bundle: a folder, or a zip file that is read where it lies and never unpacked. Sources: S1, trust W-17."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.bundle.core.paths import MAX_DEPTH, Refusal, find_refusal, find_twins, is_left_by_desktop
from minara_site.kernel.core.hidden import visible
from minara_site.kernel.errors import Invalid

MIB = 1024 * 1024
MAX_FILES = 250_000
MAX_MEMBER_BYTES = 32 * MIB  # the signatures of as many files; what is imported is smaller by far
MAX_SHOWN = 80
WORDS: dict[Refusal, str | Promise] = {
    Refusal.NAME: gettext_lazy("a name that no export gives"),
    Refusal.TOO_LONG: gettext_lazy("a name that is too long"),
    Refusal.TOO_DEEP_A_FOLDER: gettext_lazy("folders too deep in one another"),
    Refusal.DEVICE: gettext_lazy("the name of a device"),
    Refusal.ARCHIVE: gettext_lazy("an archive inside"),
    Refusal.TWICE: gettext_lazy("the same name twice, capitals aside"),
    Refusal.LINK: gettext_lazy("a link"),
    Refusal.NO_FILE: gettext_lazy("neither a file nor a folder"),
    Refusal.TOO_MANY: gettext_lazy("more files than one import takes"),
    Refusal.TOO_LARGE: gettext_lazy("more bytes than one import takes"),
    Refusal.TOO_MUCH_PACKED: gettext_lazy(
        "more than a zip file may hold (10,000 files, 64 MiB): unpack it and run minara memory import DIR"
    ),
    Refusal.RATIO: gettext_lazy("packed more tightly than any text"),
    Refusal.ENCRYPTED: gettext_lazy("encrypted"),
    Refusal.METHOD: gettext_lazy("packed in a way that is not read here"),
    Refusal.DAMAGED: gettext_lazy("damaged, or no zip file"),
}


class BundleRefused(Invalid):
    """The bundle holds something that no export writes; nothing of it is imported."""

    code = "bundle_refused"


@dataclass(frozen=True)
class Bundle:
    """The members of a bundle by path, in order. `read` returns the bytes of one, and raises BundleRefused."""

    names: tuple[str, ...]
    read: Callable[[str], bytes]


def open_folder(root: Path) -> Bundle:
    """Return the files of a folder, every name looked at before any file is opened. Raises BundleRefused."""
    names = sorted(check_names(list_files(root, "", depth=0)))
    return Bundle(tuple(names), partial(read_file, root))


def check_names(names: Iterable[str], *, most: int = MAX_FILES) -> list[str]:
    """Return the files that are to be read; a folder's name ends in a slash. Raises BundleRefused for a wrong name."""
    found: list[str] = []
    for count, name in enumerate(names, 1):
        if count > most:
            raise refused(Refusal.TOO_MANY, name)
        if is_left_by_desktop(name.removesuffix("/")):
            continue
        problem = find_refusal(name.removesuffix("/"))
        if problem is not None:
            raise refused(problem, name)
        if not name.endswith("/"):
            found.append(name)
    twin = find_twins(found)
    if twin is not None:
        raise refused(Refusal.TWICE, twin)
    return found


def list_files(folder: Path, prefix: str, *, depth: int) -> Iterator[str]:
    """Yield the files of a folder and of those below, as paths from the root. Raises BundleRefused."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{prefix}{entry.name}"
            if is_left_by_desktop(name):
                continue
            mode = entry.stat(follow_symlinks=False)
            check_mode(mode.st_mode, name)
            if not stat.S_ISDIR(mode.st_mode):
                if mode.st_size > MAX_MEMBER_BYTES:
                    raise refused(Refusal.TOO_LARGE, name)
                yield name
            elif depth < MAX_DEPTH:
                yield from list_files(Path(entry.path), f"{name}/", depth=depth + 1)
            else:
                raise refused(Refusal.TOO_DEEP_A_FOLDER, name)


def check_mode(mode: int, name: str) -> None:
    """Raise BundleRefused unless this is a plain file or a folder; a mode of 0 says nothing."""
    if stat.S_ISLNK(mode):
        raise refused(Refusal.LINK, name)
    if stat.S_IFMT(mode) and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise refused(Refusal.NO_FILE, name)


def read_file(root: Path, name: str) -> bytes:
    """Return the bytes of a plain file; what became a link since the names were read is refused."""
    try:
        with os.fdopen(
            os.open(root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK),
            "rb",
        ) as stream:
            check_mode(os.fstat(stream.fileno()).st_mode, name)
            content = stream.read(MAX_MEMBER_BYTES + 1)
    except OSError as error:
        problem = _("%(name)s cannot be read: %(cause)s")
        raise BundleRefused(problem % {"name": shown(name), "cause": error.strerror}) from None
    if len(content) > MAX_MEMBER_BYTES:
        raise refused(Refusal.TOO_LARGE, name)
    return content


def refused(problem: Refusal, name: str) -> BundleRefused:
    """Return the refusal of a whole bundle for one member."""
    words = _("Nothing is imported: %(name)s is %(problem)s.")
    return BundleRefused(
        words % {"name": shown(name), "problem": WORDS[problem]},
        code=f"bundle_{problem}",
    )


def shown(name: str) -> str:
    """Return a name as a message may show it: on one line, bounded, what is hidden written out."""
    text = visible(os.fsencode(name).decode(errors="replace"))
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
