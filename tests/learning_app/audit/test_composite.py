"""The composite: null dimensions drop, the other weights sum to 1, and bands begin exactly at their edges (R-16)."""

from fractions import Fraction
from itertools import product

import pytest

from learning_app.audit.core.composite import combine_scores
from learning_app.audit.core.records import Dimension
from tests.kit.tables import table

WEIGHTS = {
    "synthesis_quality": 0.22,
    "graduation_fp_rate": 0.22,
    "attribution_integrity": 0.22,
    "coverage_health": 0.14,
    "quarantine_churn": 0.08,
    "cron_health": 0.12,
}
SCORES = dict(zip(WEIGHTS, (13.7, 99.1, 61.25, 4.4, 88.8, 70.0), strict=True))


def test_every_pattern_of_missing_scores_weighs_the_rest_as_an_independent_computation():
    for pattern in product((True, False), repeat=6):
        kept = {name: score for (name, score), keep in zip(SCORES.items(), pattern, strict=True) if keep}
        found = combine_scores({Dimension(name): kept.get(name) for name in SCORES}, is_learning_on=True)
        if not kept:
            assert (found.score, found.band, found.weights) == (None, None, {})
            continue
        total = sum(WEIGHTS[name] for name in kept)
        assert found.score == pytest.approx(
            sum(score * WEIGHTS[name] for name, score in kept.items()) / total,
            abs=1e-9,
        )
        assert sum(found.weights.values()) == pytest.approx(1, abs=1e-9)
        assert found.weights == pytest.approx({name: WEIGHTS[name] / total for name in kept}, abs=1e-9)


@table(
    "score,band",
    [
        *[(100, "healthy"), (80, "healthy"), (79.999999, "watch"), (60, "watch"), (59.999999, "degraded")],
        *[(40, "degraded"), (39.999999, "alarm"), (0, "alarm")],
    ],
)
def test_a_band_begins_exactly_at_its_edge_whichever_dimensions_there_are(score, band):
    for pattern in product((True, False), repeat=6):
        scores = {name: score if keep else None for name, keep in zip(Dimension, pattern, strict=True)}
        found = combine_scores(scores, is_learning_on=True)
        assert found.band == (band if any(pattern) else None)


def test_scores_that_are_no_whole_numbers_lie_exactly_on_an_edge():
    exact = {Dimension.SYNTHESIS_QUALITY: Fraction(700, 9), Dimension.QUARANTINE_CHURN: Fraction(100, 9)}
    assert combine_scores(exact, is_learning_on=True).band == "watch"


def test_the_band_is_disabled_while_learning_is_off_and_the_number_stays():
    found = combine_scores(dict.fromkeys(Dimension, 90), is_learning_on=False)
    assert (found.score, found.band) == (90, "disabled")
