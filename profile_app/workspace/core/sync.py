"""What becomes of a file that the folder and the database both have. Pure; the table of the two-way copy.

Hashes are SHA-256 of the bytes, empty for no file and for an empty one.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple


class Step(StrEnum):
    """What to do with one file."""

    NOTHING = "nothing"  # both say the same
    WRITE = "write"  # the database's text goes to the folder
    READ = "read"  # the folder's text becomes a version
    READ_OVER = "read_over"  # so too, over a version that the folder's editor did not know
    WAIT = "wait"  # what the folder says waits for its owner; the file stays as it is


class Copy(NamedTuple):
    """What a folder was last known to hold of a file, and which version of which document was compared with it then."""

    sha256: str
    stamp: str
    document: int
    version: int


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database knows of a file: its text in force, what the folder was last known to hold, what waits.

    `folder` is None for a folder that was never compared: it may be older than what the database has. `discarded` is
    the text that its owner refused last; `former` are texts that were in force before.
    """

    content: str = ""
    folder: str | None = None
    waiting: str = ""
    discarded: str = ""
    former: Collection[str] = ()


def digest(data: bytes) -> str:
    """Return the hash by which texts are compared."""
    return sha256(data).hexdigest() if data else ""


def decide_step(disk: str, stored: Stored) -> Step:
    """Return what to do with a file of which the folder holds this.

    A text that waits is never written over. Where both changed, the editor's text wins, unless the file was removed,
    or holds a former text of ours: a process that ended before it could say so wrote that.
    """
    if disk == stored.content:
        return Step.NOTHING
    if disk and disk == stored.waiting:
        return Step.WAIT
    if disk == stored.folder or (disk and disk == stored.discarded):
        return Step.WRITE
    is_new = stored.folder is None and not stored.content and disk not in stored.former
    if stored.content == stored.folder or is_new:
        return Step.READ
    return Step.WRITE if not disk or disk in stored.former else Step.READ_OVER
