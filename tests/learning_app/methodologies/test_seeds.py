"""The methods that ship: well formed, all different, accepted by the guard."""

from itertools import combinations
from typing import Any

from learning_app.methodologies.core.structure import StructuredMethodology, find_phase_fault
from learning_app.similarity.core import find_most_similar_tfidf
from learning_app.vocabulary import Indicator, PrimarySignal, Timeframe
from minara_site.kernel.core.assets import AssetClass, AssetGroup
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.core.nested import leaves
from minara_site.kernel.guard.core import judge
from minara_site.kernel.market.outcome import Direction

SEEDS: list[dict[str, Any]] = load_toml("learning_app.methodologies", "seeds.toml")["methodologies"]
FIELDS = {"name", "asset_class", "direction", "primary_signal", "timeframe", "indicators", "methodology", "evidence"}
PHASE = {"name", "criteria", "tools_used", "depends_on"}
ALIKE = 0.85


def structured(seed: dict[str, Any]) -> StructuredMethodology:
    """Return the structured fields of a seed; an unknown word raises."""
    return StructuredMethodology(
        Direction(seed["direction"]),
        PrimarySignal(seed["primary_signal"]),
        Timeframe(seed["timeframe"]),
        tuple(map(Indicator, seed["indicators"])),
        AssetClass(seed["asset_class"]),
    )


def test_are_in_the_closed_vocabularies_and_all_different():
    keys = {structured(seed).dedup_key for seed in SEEDS}
    assert 16 <= len(SEEDS) == len(keys) == len({seed["name"] for seed in SEEDS})
    assert all(seed["indicators"] == sorted({*seed["indicators"]}) for seed in SEEDS)
    assert {structured(seed).asset_class.group for seed in SEEDS} == {*AssetGroup}
    assert {seed["direction"] for seed in SEEDS} >= {"bullish", "bearish"}


def test_no_two_of_one_direction_and_class_have_nearly_the_same_words():
    scores = {
        (one["name"], other["name"]): find_most_similar_tfidf(one["methodology"], {0: other["methodology"]})
        for one, other in combinations(SEEDS, 2)
    }
    assert [names for names, match in scores.items() if match and match.score >= ALIKE] == []


def test_have_every_text_and_phases_that_are_one_tree():
    faults = []
    for seed in SEEDS:
        phases = seed.get("phases", [])
        is_whole = seed.keys() - {"phases"} == FIELDS and all(phase.keys() == PHASE for phase in phases)
        is_short = len(seed["name"]) <= 120 and all(len(text) <= 300 for text in leaves(phases))
        has_sentences = 2 <= seed["methodology"].count(". ") + 1 <= 4 and seed["evidence"].count(". ") == 0
        fault = find_phase_fault([(phase["name"], phase["depends_on"]) for phase in phases])
        if fault or not (is_whole and is_short and has_sentences):
            faults.append((seed["name"], fault, is_whole, is_short, has_sentences))
    assert faults == []
    assert any("phases" in seed for seed in SEEDS)


def test_are_accepted_by_the_guard():
    held = {seed["name"]: verdict.findings for seed in SEEDS if (verdict := judge("\n".join(leaves(seed)))).is_held}
    assert held == {}
