"""Which names a member of a bundle may have: what an export writes, and nothing that leads anywhere. Source: W-17."""

import re
from collections.abc import Iterable
from enum import StrEnum

MAX_PATH_CHARS = 240
MAX_DEPTH = 6
SIGNATURE = "signature.txt"

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9 ._@+-]*")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_ARCHIVES = (".zip", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".zst", ".jar", ".lzma")
_LEFT_BY_DESKTOPS = re.compile(r"\.[^.].*|Thumbs\.db|desktop\.ini|__MACOSX")


class Refusal(StrEnum):
    """Why a member makes the whole bundle unacceptable."""

    NAME = "name"
    TOO_LONG = "too_long"
    TOO_DEEP_A_FOLDER = "too_deep_a_folder"
    DEVICE = "device"
    ARCHIVE = "archive"
    TWICE = "twice"
    LINK = "link"
    NO_FILE = "no_file"
    TOO_MANY = "too_many"
    TOO_LARGE = "too_large"
    TOO_MUCH_PACKED = "too_much_packed"
    RATIO = "ratio"
    ENCRYPTED = "encrypted"
    METHOD = "method"
    DAMAGED = "damaged"


def find_refusal(name: str) -> Refusal | None:
    """Return why a relative path is not acceptable, None when it is."""
    parts = name.split("/")
    if len(name) > MAX_PATH_CHARS:
        return Refusal.TOO_LONG
    if len(parts) > MAX_DEPTH:
        return Refusal.TOO_DEEP_A_FOLDER
    if not all(_PART.fullmatch(part) and part[-1] not in ". " for part in parts):
        return Refusal.NAME
    if any(_DEVICES.fullmatch(part) for part in parts):
        return Refusal.DEVICE
    return Refusal.ARCHIVE if name.lower().endswith(_ARCHIVES) else None


def find_twins(names: Iterable[str]) -> str | None:
    """Return a name that stands there twice, also in other capitals, or as a file and as a folder; else None."""
    files = set()
    folders = set()
    for name in names:
        folded = name.lower()
        if folded in files:
            return name
        files.add(folded)
        parts = folded.split("/")
        folders |= {"/".join(parts[:depth]) for depth in range(1, len(parts))}
    return min(files & folders, default=None)


def is_left_by_desktop(name: str) -> bool:
    """Say whether a desktop or an editor left this of its own accord, such as `.DS_Store`: it is never read."""
    parts = name.split("/")
    return not {"", ".", ".."}.intersection(parts) and any(map(_LEFT_BY_DESKTOPS.fullmatch, parts))
