"""A bundle in a zip file, read member by member where it lies. Source: trust W-17.

What is claimed is checked first: how many members, how large, under which names. Then every member is read through
once for its checksum, and only then is any of it believed.
"""

import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from memory_app.bundle.adapters.bundles import (
    MAX_MEMBER_BYTES,
    MIB,
    Bundle,
    BundleRefused,
    check_mode,
    check_names,
    refused,
)
from memory_app.bundle.core.paths import Refusal, is_left_by_desktop
from minara_site.kernel.core.zips import BROKEN

MAX_MEMBERS = 10_000
MAX_TOTAL_BYTES = 64 * MIB
MAX_DIRECTORY_BYTES = 4 * MIB  # of ten thousand long names
MAX_RATIO = 100
RATIO_COUNTS_FROM_BYTES = 32 * 1024  # what one statement repeated may come to
ENCRYPTED_FLAG = 0x1
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
END, END_BYTES, MAX_COMMENT_BYTES = b"PK\5\6", 22, 65_535
LOCATOR_64, LOCATOR_64_BYTES = b"PK\6\7", 20
NO_PATH = frozenset({"", ".", ".."})
NO_PATH_CHARS = frozenset({"\\", "\0"})
Check = Callable[[Sequence[str]], list[str]]
check_exported: Check = partial(check_names, most=MAX_MEMBERS)


def check_paths(names: Sequence[str]) -> list[str]:
    """Return the files as `check_names`, but under any names that stay in the archive. Raises BundleRefused."""
    if len(names) > MAX_MEMBERS:
        raise refused(Refusal.TOO_MANY, names[MAX_MEMBERS])
    for name in names:  # each a plain path below the archive, on whatever system
        parts = name.removesuffix("/").split("/")
        if name[1:2] == ":" or not NO_PATH.isdisjoint(parts) or not NO_PATH_CHARS.isdisjoint(name):
            raise refused(Refusal.NAME, name)
    files = [name for name in names if not name.endswith("/") and not is_left_by_desktop(name)]
    for name, count in Counter(files).items():
        if count > 1:
            raise refused(Refusal.TWICE, name)
    return files


def open_archive(path: Path, *, check: Check = check_exported) -> Bundle:
    """Return the members of a zip file whose names pass the check. Raises BundleRefused."""
    with path.open("rb") as stream:
        check_directory(stream, path.name)
    try:
        archive = zipfile.ZipFile(path)
    except BROKEN:
        raise refused(Refusal.DAMAGED, path.name) from None
    members = list_members(archive, check)
    check_sizes(members, path.name)
    for member in members.values():
        check_content(archive, member)
    tops = {PurePosixPath(name).parts[0] for name in members}
    top = f"{next(iter(tops))}/" if len(tops) == 1 else ""
    if f"{top}index.md" not in members:  # else a desktop packed one folder around everything
        top = ""
    return Bundle(
        names=tuple(sorted(name.removeprefix(top) for name in members)),
        read=lambda name: archive.read(members[top + name]),
    )


def is_uploadable(path: Path) -> bool:
    """Say whether a zip file is small enough to be imported as it is."""
    try:
        with path.open("rb") as stream:
            check_directory(stream, path.name)
        with zipfile.ZipFile(path) as archive:
            check_sizes(list_members(archive, check_exported), path.name)
    except BundleRefused:
        return False
    return True


def check_directory(stream: BinaryIO, name: str) -> None:
    """Raise BundleRefused when the list of members is larger than one bundle's; `zipfile` reads it at once."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - END_BYTES - MAX_COMMENT_BYTES - LOCATOR_64_BYTES))
    tail = stream.read()
    is_bare = tail[-END_BYTES:].startswith(END) and tail.endswith(b"\0\0")
    end = len(tail) - END_BYTES if is_bare else tail.rfind(END)
    if end < 0 or len(tail) - end < END_BYTES:
        raise refused(Refusal.DAMAGED, name)
    count = int.from_bytes(tail[end + 10 : end + 12], "little")
    directory_bytes = int.from_bytes(tail[end + 12 : end + 16], "little")
    is_64 = tail[max(0, end - LOCATOR_64_BYTES) : end].startswith(LOCATOR_64)
    if is_64 or count > MAX_MEMBERS or directory_bytes > MAX_DIRECTORY_BYTES:
        raise refused(Refusal.TOO_MUCH_PACKED, name)


def list_members(archive: zipfile.ZipFile, check: Check) -> dict[str, zipfile.ZipInfo]:
    """Return the files by name, folders and what desktops leave apart. Raises BundleRefused."""
    members = archive.infolist()
    names = check([member.orig_filename for member in members])
    for member in members:
        name = member.orig_filename
        check_mode(member.external_attr >> 16, name)  # Unix keeps the mode there, others nothing
        if member.flag_bits & ENCRYPTED_FLAG:
            raise refused(Refusal.ENCRYPTED, name)
        if member.compress_type not in METHODS:  # no export is packed so
            raise refused(Refusal.METHOD, name)
    by_name = {member.orig_filename: member for member in members}
    return {name: by_name[name] for name in names}


def check_sizes(members: dict[str, zipfile.ZipInfo], name: str) -> None:
    """Raise BundleRefused when the members would be larger than an import takes, or are packed like a bomb."""
    if sum(member.file_size for member in members.values()) > MAX_TOTAL_BYTES:
        raise refused(Refusal.TOO_MUCH_PACKED, name)
    for member in members.values():
        if member.file_size > MAX_MEMBER_BYTES:
            raise refused(Refusal.TOO_LARGE, member.filename)
        if member.file_size > max(RATIO_COUNTS_FROM_BYTES, MAX_RATIO * member.compress_size):
            raise refused(Refusal.RATIO, member.filename)


def check_content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Read a member through. Raises BundleRefused when its checksum or anything else about it is wrong."""
    try:
        with archive.open(member) as stream:
            while stream.read(MIB):
                pass
    except BROKEN:
        raise refused(Refusal.DAMAGED, member.filename) from None
