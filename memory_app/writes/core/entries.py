"""What an audit entry says was written: the ids in its details. Never the text: the log holds none."""

from collections.abc import Mapping
from typing import Any

IMPORT = "import:"  # a writer that is one run of an import; every other writer is an actor of the log


def id_runs(details: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return the ids that an entry is about: one id, a list with hashes, or runs of a bulk write, first and last."""
    if "id" in details:
        return [(details["id"], details["id"])]
    if "memories" in details:
        return [(each["id"], each["id"]) for each in details["memories"]]
    ids = details.get("ids") or []
    if ids and isinstance(ids[0], int):  # written before runs were exact
        return [(ids[0], ids[-1])]
    return [(first, last) for first, last in ids]


def count_ids(details: Mapping[str, Any]) -> int:
    """Return how many rows an entry stands for; one that names none stands for one."""
    if "count" in details:
        return int(details["count"])
    if isinstance(details.get("id"), str):  # a uid
        return 1
    return sum(last - first + 1 for first, last in id_runs(details)) or 1
