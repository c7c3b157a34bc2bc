"""What a sweep over a role's entries did, and what became of each entry. Source: S0."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class SweepResult(StrEnum):
    """How a sweep ended.

    One that was dropped found somebody else at work; one that stopped had no model to ask; one that was continued had
    used its time, and another run takes the rest.
    """

    DONE = "done"
    CONTINUED = "handed_on"
    DROPPED = "dropped"
    STOPPED = "stopped"
    OFF = "off"
    LOST = "lost"


class Ended(StrEnum):
    """What became of one entry in a sweep. Of those that need a model and had none, `left` counts how many."""

    RIGHT = "right"
    LESSON = "lesson"
    NO_LESSON = "no_lesson"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"
    FAILED = "failed"
    CHANGED = "changed"
    LEFT = "left"
    SHADOWED = "shadowed"


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep did: how it ended, why if it stopped, and how many entries ended how."""

    result: SweepResult
    counts: dict[str, int]
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as runs, pages and the command line show it."""
        reason = {"reason": self.reason} if self.reason else {}
        return {"result": self.result.value, **self.counts, **reason}
