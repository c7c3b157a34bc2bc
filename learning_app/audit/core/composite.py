"""The composite of the six scores, and its band. Source: S2 (composite and bands). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from learning_app.audit.core.records import Dimension

WEIGHTS: Mapping[Dimension, Fraction] = {
    Dimension.SYNTHESIS_QUALITY: Fraction(22, 100),
    Dimension.GRADUATION_FP_RATE: Fraction(22, 100),
    Dimension.ATTRIBUTION_INTEGRITY: Fraction(22, 100),
    Dimension.COVERAGE_HEALTH: Fraction(14, 100),
    Dimension.QUARANTINE_CHURN: Fraction(8, 100),
    Dimension.CRON_HEALTH: Fraction(12, 100),
}


class Band(StrEnum):
    """How healthy the learning loop is, the best first; disabled while learning is switched off."""

    HEALTHY = "healthy"
    WATCH = "watch"
    DEGRADED = "degraded"
    ALARM = "alarm"
    DISABLED = "disabled"


LOWEST = (
    (Band.HEALTHY, 80),
    (Band.WATCH, 60),
    (Band.DEGRADED, 40),
    (Band.ALARM, 0),
)


@dataclass(frozen=True, slots=True)
class Composite:
    """The weighted mean of the scores that there are, in [0, 100], its band, and the weights, which sum to 1.

    Without any score there is neither.
    """

    score: float | None
    band: Band | None
    weights: Mapping[Dimension, float]


def combine_scores(scores: Mapping[Dimension, Fraction | float | None], *, is_learning_on: bool) -> Composite:
    """Return the composite; dimensions without a score are dropped and the other weights sum to 1."""
    known = {dimension: Fraction(score) for dimension, score in scores.items() if score is not None}
    whole = sum(WEIGHTS[dimension] for dimension in known)
    weights = {dimension: WEIGHTS[dimension] / whole for dimension in known}
    score = float(sum(known[dimension] * weight for dimension, weight in weights.items())) if known else None
    band = band_of(score) if is_learning_on else Band.DISABLED
    return Composite(
        score,
        band,
        {dimension: float(weight) for dimension, weight in weights.items()},
    )


def band_of(score: float | None) -> Band | None:
    """Return the band of a score, None without one."""
    return None if score is None else next(band for band, low in LOWEST if score >= low)
