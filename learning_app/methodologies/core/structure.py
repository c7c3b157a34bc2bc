"""The structured fields of a methodology, the key that equal ones share, its phases. Source: S2 (structured dedup)."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from learning_app.vocabulary import Indicator, PrimarySignal, Timeframe
from minara_site.kernel.core.assets import AssetClass
from minara_site.kernel.market.outcome import Direction

MAX_PHASES = 20


@dataclass(frozen=True, slots=True)
class StructuredMethodology:
    """What two equal methodologies have in common. `indicators` have no order and stand once each."""

    direction: Direction
    primary_signal: PrimarySignal
    timeframe: Timeframe
    indicators: tuple[Indicator, ...]
    asset_class: AssetClass

    def as_json(self) -> dict[str, Any]:
        """Return the normalised fields."""
        return {
            "direction": self.direction.value,
            "primary_signal": self.primary_signal.value,
            "timeframe": self.timeframe.value,
            "indicators": sorted({each.value for each in self.indicators}),
            "asset_class": self.asset_class.value,
        }

    @property
    def dedup_key(self) -> str:
        """The SHA-256 of the normalised fields, as 64 hex digits."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()


class PhaseFault(StrEnum):
    """What keeps phases from being one tree."""

    SAME_NAME = "same_name"
    UNKNOWN = "unknown"
    CYCLE = "cycle"
    NOT_ONE_TREE = "not_one_tree"


def find_phase_fault(parents: Sequence[tuple[str, Sequence[str]]]) -> PhaseFault | None:
    """Return why phases are no tree, None when they are; each is its name and the names that it depends on.

    A tree has one phase that depends on nothing, every other depends on exactly one, and no way leads in a circle.
    """
    depends_on = {name: list(dict.fromkeys(names)) for name, names in parents}
    if len(depends_on) < len(parents):
        return PhaseFault.SAME_NAME
    if any(name not in depends_on for names in depends_on.values() for name in names):
        return PhaseFault.UNKNOWN
    waiting, done = set(depends_on), set[str]()
    while ready := {name for name in waiting if done.issuperset(depends_on[name])}:
        done |= ready
        waiting -= ready
    if waiting:
        return PhaseFault.CYCLE
    roots = [name for name, names in depends_on.items() if not names]
    is_tree = len(roots) == 1 and all(len(names) <= 1 for names in depends_on.values())
    return None if is_tree or not parents else PhaseFault.NOT_ONE_TREE
