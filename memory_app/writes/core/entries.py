"""What an audit entry says was written: which act, and the ids in its details. Never the text: the log holds none."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

Run = tuple[int, int]  # the first and the last of ids without a gap
IMPORT_CALL = "memory_import"
IMPORT_CALLS = (IMPORT_CALL, "memory_import.signed", "memory_import.unsigned")  # of a bundle one entry a file (S1)
IMPORT = "import:"  # a writer that is one run of an import; every other writer is an actor of the log


class Done(StrEnum):
    """What a writer did to a row."""

    CREATED = "created"
    EDITED = "edited"
    DELETED = "deleted"
    RESTORED = "restored"
    PROFILE = "profile"


WRITES: Mapping[str, Done] = {
    "memory_write": Done.CREATED,
    **dict.fromkeys(IMPORT_CALLS, Done.CREATED),
    "memory_edited": Done.EDITED,
    "memory_reverted": Done.EDITED,
    "memory_removed": Done.DELETED,
    "memory_restored": Done.RESTORED,
    "user_profile_set": Done.PROFILE,
    "user_profile_removed": Done.PROFILE,
}
"""Acts of the log that a roll-back takes back. The demo is none: it has its own way out."""


def id_runs(details: Mapping[str, Any]) -> list[Run]:
    """Return the memories that an entry is about: one id, a list with hashes, or runs of a bulk write."""
    if "id" in details:
        return [(details["id"], details["id"])]
    if "memories" in details:
        return [(each["id"], each["id"]) for each in details["memories"]]
    ids = details.get("ids") or []
    if ids and isinstance(ids[0], int):  # written before runs were exact
        return [(ids[0], ids[-1])]
    return [(first, last) for first, last in ids]


def merge_runs(runs: Iterable[Run]) -> list[Run]:
    """Return the same ids in as few runs as there are, in order."""
    merged: list[Run] = []
    for first, last in sorted(runs):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def count_ids(details: Mapping[str, Any]) -> int:
    """Return how many rows an entry stands for; one that names none stands for one."""
    if "count" in details:
        return int(details["count"])
    return sum(last - first + 1 for first, last in id_runs(details)) or 1
