"""How good a suggestion is: how similar to what is asked, and how often it helped. Source: S2 (feedback loop). Pure."""

import re
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

N = TypeVar("N", bound=Any)
MIN_COSINE = 0.1
SAME_TRIGGER = 0.85
"""From this cosine on, two triggers are one."""
HALF_AFTER_IGNORED = 30


@dataclass(frozen=True, slots=True)
class Counters(Generic[N]):
    """How often a learning helped, failed, and was offered without being used; numbers, or arrays of them."""

    success: N
    failure: N
    ignored: N

    @property
    def success_factor(self) -> N:
        """The share of successes with one more of each, above 0 and below 1."""
        return (self.success + 1) / (self.success + self.failure + 2)

    @property
    def decay(self) -> N:
        """What being ignored left of it: half for each 30 times, above 0 and at most 1."""
        return 0.5 ** (self.ignored / HALF_AFTER_IGNORED)

    def rank(self, cosine: N) -> N:
        """Return the rank of a suggestion with this cosine: never above the cosine."""
        return cosine * self.success_factor * self.decay


_OPPOSITES = tuple(
    (
        re.compile(rf"\b(?:{one})\b|{one_cjk}", re.IGNORECASE),
        re.compile(rf"\b(?:{other})\b|{other_cjk}", re.IGNORECASE),
    )
    for one, one_cjk, other, other_cjk in (
        ("longs?|buy(?:s|ing)?|bull(?:ish)?", "做多|买", "shorts?|sell(?:s|ing)?|bear(?:ish)?", "做空|卖"),
        ("open(?:s|ing)?|enter(?:s|ing)?", "开仓|建仓", "clos(?:e|es|ing)|exit(?:s|ing)?", "平仓|清仓"),
        ("deposit(?:s|ing)?|stak(?:e|es|ing)", "存入|质押", "withdraw(?:s|ing)?|unstak(?:e|es|ing)", "提取|解押"),
    )
)


def is_opposite(trigger: str, other: str) -> bool:
    """Say whether two triggers ask for opposite actions, such as buying and selling, whatever else they share."""
    return any(
        (bool(one.search(trigger)), bool(two.search(trigger))) != (bool(one.search(other)), bool(two.search(other)))
        for one, two in _OPPOSITES
    )
