"""Is a methodology better than chance, and has it stopped being so? Source: court.md. Pure.

A block is one bet, scored by the mean of its clear cases. Chance is how often the same bet was right when it was opened
in the eight horizons after: its control. Under "no better than its controls" the evidence E ever reaches 20 with a
probability of at most 5 %, however often one looks.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import Protocol, TypeVar

from minara_site.kernel.market.outcome import Direction, OutcomeWindow

STEPS_IN_HORIZON, WINDOWS, HALF_LIFE = 4, 32, 12
MIN_WINDOWS = 4
MAX_CONTROLLED_HOURS = 14 * 24
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

FEE = 0.01
STAKES = (0.2, 0.4)
SHARES = (0.25, 0.75)
LOG_BEATS_CHANCE = math.log(20)
LOG_LOW = math.log(0.5)
"""An owner whose own evidence is below it takes no place for the instance while somebody's is above 1."""
FALSE_SHARE = 0.10
ONE_BET = timedelta(minutes=1)
"""Within so long after the first, cases that were decided at one moment are one bet."""

STEADY = 0.55
"""The hit rate below which skill counts as lost; `y` is built so that a method at +.09 over its controls has it."""
SHIFT = 0.46
ALTERNATIVES = (0.35, 0.40, 0.45, 0.50)
DECAYING = 1_000.0
MAX_DETECTOR = 100 * DECAYING
"""A cap of each figure, so that a methodology which recovers is seen to; the first warning never depends on it."""


def grid_start(ends_at: datetime, horizon_hours: int) -> datetime:
    """Return where the control windows of a case begin: the first multiple of a quarter of the horizon at its end."""
    step = timedelta(hours=horizon_hours) / STEPS_IN_HORIZON
    return EPOCH - (EPOCH - ends_at) // step * step


def control_windows(grid_at: datetime, horizon_hours: int) -> list[OutcomeWindow]:
    """Return the 32 windows of a control, a quarter of a horizon apart."""
    horizon = timedelta(hours=horizon_hours)
    starts = (grid_at + number * horizon / STEPS_IN_HORIZON for number in range(WINDOWS))
    return [OutcomeWindow(start, start + horizon) for start in starts]


def weight_of(number: int) -> float:
    """Return what the window of this number, from 0, weighs."""
    return float(2.0 ** (-number / HALF_LIFE))


@dataclass(frozen=True, slots=True)
class ControlWeights:
    """What the windows of a control that can be judged weigh, and how many they are, by where their price went."""

    up: float = 0.0
    down: float = 0.0
    inside: float = 0.0
    ups: int = 0
    downs: int = 0
    insides: int = 0


def weigh(moves: Sequence[int | None]) -> ControlWeights:
    """Return the weights of windows in their order: 1 went up, -1 down, 0 stayed inside the band, None is none."""
    sums, counts = {1: 0.0, -1: 0.0, 0: 0.0}, {1: 0, -1: 0, 0: 0}
    for number, move in enumerate(moves):
        if move is not None:
            sums[move] += weight_of(number)
            counts[move] += 1
    return ControlWeights(sums[1], sums[-1], sums[0], counts[1], counts[-1], counts[0])


def chance_of(direction: Direction, control: ControlWeights) -> float | None:
    """Return how often chance was right in this direction, in [0, 1]; None with fewer than four windows that say it."""
    clear = control.ups + control.downs
    if direction is Direction.NEUTRAL:
        if clear + control.insides < MIN_WINDOWS:
            return None
        return control.inside / (control.up + control.down + control.inside)
    if clear < MIN_WINDOWS:
        return None
    return (control.up if direction is Direction.BULLISH else control.down) / (control.up + control.down)


def log_factors(score: float, chance: float) -> tuple[float, float]:
    """Return by what a block moves the logarithms of the two products; both are in [0, 1]. Raises ValueError."""
    if not (0 <= score <= 1 and 0 <= chance <= 1):
        raise ValueError(f"score {score} and chance {chance} have to be in [0, 1]")
    gain = score - chance - FEE
    small, large = (math.log1p(stake * gain) for stake in STAKES)
    return small, large


def log_e(products: Sequence[float]) -> float:
    """Return the logarithm of E, out of the logarithms of its products."""
    highest = max(products)
    weighted = (share * math.exp(product - highest) for share, product in zip(SHARES, products, strict=True))
    return highest + math.log(math.fsum(weighted))


@dataclass(frozen=True, slots=True)
class CourtState:
    """What the blocks of one methodology have come to, in the order in which they became known.

    `log_products` are the logarithms of the products; `detector` has the figure for each of ALTERNATIVES, from the
    block on at which E first reached 20.
    """

    log_products: tuple[float, float] = (0.0, 0.0)
    max_log_evidence: float = 0.0
    blocks: int = 0
    detector: tuple[float, ...] = (0.0,) * len(ALTERNATIVES)

    @property
    def log_evidence(self) -> float:
        return log_e(self.log_products)

    @property
    def beats_chance(self) -> bool:
        """Whether E reached 20, now or at its maximum."""
        return self.max_log_evidence >= LOG_BEATS_CHANCE

    @property
    def is_decaying(self) -> bool:
        """Whether the detector of a fall below STEADY is at its threshold now."""
        return is_lit(self.detector)


def add_block(state: CourtState, *, score: float, chance: float) -> CourtState:
    """Return the state after one block: the means of its clear cases' outcomes and controls, both in [0, 1].

    Raises ValueError outside [0, 1].
    """
    factors = log_factors(score, chance)
    products = (state.log_products[0] + factors[0], state.log_products[1] + factors[1])
    highest = max(state.max_log_evidence, log_e(products))
    watched = highest >= LOG_BEATS_CHANCE
    detector = next_detector(state.detector, score=score, chance=chance) if watched else state.detector
    return CourtState(products, highest, state.blocks + 1, detector)


def next_detector(detector: Sequence[float], *, score: float, chance: float) -> tuple[float, ...]:
    """Return the figures of the detector after one block (Shiryaev-Roberts, as an e-detector)."""
    seen = SHIFT + score - chance
    return tuple(
        min(MAX_DETECTOR, (1 + figure) * decay_ratio(alternative, seen))
        for alternative, figure in zip(ALTERNATIVES, detector, strict=True)
    )


def decay_ratio(alternative: float, seen: float) -> float:
    """Return how much likelier what was seen is at a hit rate that fell; linear, so that its mean at STEADY stays 1."""
    return seen * alternative / STEADY + (1 - seen) * (1 - alternative) / (1 - STEADY)


def is_lit(detector: Sequence[float]) -> bool:
    """Say whether the light is on."""
    return fmean(detector) >= DECAYING


def surviving(e_values: Mapping[int, float], level: float = FALSE_SHARE) -> frozenset[int]:
    """Return which of all methodologies with a block hold beside each other: e-BH (Wang and Ramdas 2022).

    At most this share of them is false, on average, however they depend on each other. It needs E as it is now: the
    maximum of an E is no e-value.
    """
    ranked = sorted(e_values, key=lambda key: e_values[key], reverse=True)
    enough = [rank for rank, key in enumerate(ranked, 1) if rank * e_values[key] >= len(ranked) / level]
    return frozenset(ranked[: max(enough, default=0)])


class Place(Protocol):
    """A block that holds its time, [starts_at, ends_at). `hand` is whose cases it has."""

    starts_at: datetime
    ends_at: datetime
    decided_at: datetime
    recorded_at: datetime
    hand: int


P = TypeVar("P", bound=Place)


def find_met(places: Sequence[P], starts_at: datetime, ends_at: datetime) -> list[P]:
    """Return the blocks that a window meets; touching is not meeting. They are apart, and in the order of time."""
    number = bisect_left(places, ends_at, key=lambda place: place.starts_at)
    found = []
    while number and places[number - 1].ends_at > starts_at:
        number -= 1
        found.append(places[number])
    return found[::-1]


def is_same_bet(place: Place, *, decided_at: datetime, recorded_at: datetime, hand: int) -> bool:
    """Say whether a case belongs to a block: of one hand, decided at one moment, recorded within a minute."""
    is_at_once = place.decided_at == decided_at and abs(recorded_at - place.recorded_at) <= ONE_BET
    return place.hand == hand and is_at_once
