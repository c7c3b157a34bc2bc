"""Is a methodology better than chance, and has it stopped being so? Source: court.md. Pure.

A block is one observation: the methodology's cases decided at the same moment, scored by their mean. Its base rate is
how often chance would have been right. Evidence is an e-process: under "no better than its base rate" it ever reaches
20 with a probability of at most 5 %, however often one looks (Ville's inequality).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

EDGES = (0.04, 0.06, 0.08, 0.10, 0.12, 0.15, 0.20, 0.25)
"""By how much a methodology may beat its base rate: the bet on each is a product of its own."""
LOG_BEATS_CHANCE = math.log(20)
PSEUDO_WINDOWS = 50
MIN_BASE_RATE, MAX_BASE_RATE = 0.05, 0.95

STEADY = 0.55
"""The hit rate below which skill counts as lost."""
ALTERNATIVES = (0.35, 0.40, 0.45, 0.50)
DECAYING = 1_000.0
MAX_DETECTOR = 100 * DECAYING
"""A cap of each figure, so that a methodology which recovers is seen to; the first warning never depends on it."""


@dataclass(frozen=True, slots=True)
class CourtState:
    """What the blocks of one methodology have come to.

    `log_products` has the logarithm of the product for each of EDGES, `detector` the figure for each of ALTERNATIVES.
    """

    log_products: tuple[float, ...]
    max_log_evidence: float
    blocks: int
    detector: tuple[float, ...]


def new_state() -> CourtState:
    """Return the state before the first block: E is 1."""
    return CourtState(
        (0.0,) * len(EDGES),
        0.0,
        0,
        (0.0,) * len(ALTERNATIVES),
    )


def shrink_base_rate(right: int, windows: int) -> float:
    """Return the share of windows that were right, shrunk to .5 by 50 pseudo-windows, in [.05, .95]."""
    return clip_base_rate((right + PSEUDO_WINDOWS / 2) / (windows + PSEUDO_WINDOWS))


def clip_base_rate(base_rate: float) -> float:
    """Return a base rate inside the limits where every bet can be paid."""
    return min(max(base_rate, MIN_BASE_RATE), MAX_BASE_RATE)


def add_block(state: CourtState, *, score: float, base_rate: float) -> CourtState:
    """Return the state after one closed block: the means of its cases' outcomes and base rates, both in [0, 1].

    The detector depends on the order of blocks, the evidence does not. Raises ValueError outside [0, 1].
    """
    if not (0 <= score <= 1 and 0 <= base_rate <= 1):
        raise ValueError(f"score {score} and base rate {base_rate} have to be in [0, 1]")
    chance = clip_base_rate(base_rate)
    log_products = tuple(
        product + math.log1p(bet_of(edge, chance) * (score - chance))
        for edge, product in zip(EDGES, state.log_products, strict=True)
    )
    detector = tuple(
        min(MAX_DETECTOR, (1 + figure) * decay_ratio(alternative, score))
        for alternative, figure in zip(ALTERNATIVES, state.detector, strict=True)
    )
    highest = max(state.max_log_evidence, log_mean_exp(log_products))
    return CourtState(log_products, highest, state.blocks + 1, detector)


def bet_of(edge: float, base_rate: float) -> float:
    """Return the stake on an edge: 1 + bet * (x - base_rate) is positive for every x in [0, 1]."""
    return min(edge, 0.98 - base_rate) / (base_rate * (1 - base_rate))


def decay_ratio(alternative: float, score: float) -> float:
    """Return how much likelier a score is at a hit rate that fell; linear, so that its mean at STEADY stays 1."""
    return score * alternative / STEADY + (1 - score) * (1 - alternative) / (1 - STEADY)


def log_mean_exp(logs: Sequence[float]) -> float:
    """Return the logarithm of the mean of what these are logarithms of."""
    highest = max(logs)
    return highest + math.log(fmean(math.exp(each - highest) for each in logs))


def log_evidence(state: CourtState) -> float:
    """Return the logarithm of E now."""
    return log_mean_exp(state.log_products)


def beats_chance(state: CourtState) -> bool:
    """Say whether E reached 20, now or at its maximum."""
    return state.max_log_evidence >= LOG_BEATS_CHANCE


def is_decaying(state: CourtState) -> bool:
    """Say whether the Shiryaev-Roberts detector of a fall below .55 is at its threshold now."""
    return fmean(state.detector) >= DECAYING


def surviving(e_values: Mapping[int, float], level: float = 0.10) -> frozenset[int]:
    """Return which of all methodologies with a block hold beside each other: e-BH (Wang and Ramdas 2022).

    At most this share of them is false, on average, however they depend on each other. It needs E as it is now: the
    maximum of an E is no e-value.
    """
    ranked = sorted(e_values, key=lambda key: e_values[key], reverse=True)
    enough = [rank for rank, key in enumerate(ranked, 1) if rank * e_values[key] >= len(ranked) / level]
    return frozenset(ranked[: max(enough, default=0)])


def block_of(
    decided_at: datetime,
    ends_at: datetime,
    blocks: Sequence[tuple[datetime, datetime]],
) -> datetime | None:
    """Return the moment that names a case's block, None when another block of the methodology is open meanwhile.

    `blocks` has (moment, end) of every block that may overlap the case, or of each case in one, in any order. A case
    joins the block of its own moment unless its longer window would reach into a later block. Touching is not
    overlapping.
    """
    is_open = any(at != decided_at and at < ends_at and decided_at < end for at, end in blocks)
    return None if is_open else decided_at
