"""The ten dimensions as the source spells them; no other spelling is a value (R-32)."""

import pytest

from profile_app.portrait.core.tags import (
    SCHEMA,
    allowed_values,
    is_valid_tag_value,
    labels_of,
    parse_stored_tag_value,
    serialize_tag_value,
)
from tests.kit.tables import table

DEGREES = ("Very Low", "Low", "Medium", "High", "Very High")
PRINTED = {
    "finance_knowledge": ("level_1", "level_2", "level_3", "level_4"),
    "frequency": ("passive", "weekly", "daily", "active"),
    "markets": ("crypto_majors", "crypto_alts", "memes", "stocks", "commodities", "pre_ipo"),
    "risk": ("conservative", "balanced", "aggressive"),
    "web3_knowledge_level": ("level_1", "level_2", "level_3", "level_4"),
    "style": ("fundamentals", "technical", "narrative", "news_event", "community"),
    "FOMO Index": DEGREES,
    "FUD Immunity": ("Strong", "Medium", "Weak"),
    "Patience Level": ("High", "Medium", "Low"),
    "Greed Index": DEGREES,
}
SINGLE = [name for name in SCHEMA if name != "markets"]


def variants(word):
    """Return what is nearly a word: another case, spaces, look-alikes, hidden characters, JSON, lists, other types."""
    others = (word.upper(), word.lower(), word.title(), word.swapcase())
    alike = (
        word.replace("e", "\u0435"),
        word.replace("i", "\u0131"),
        f"{word}\u200b",
        word.replace("_", "-"),
    )
    texts = {*others, *alike, f" {word}", f"{word}\n", f'"{word}"', f'["{word}"]', "", f"{word},{word}"} - {word}
    return [*texts, [word], (word, word), {"value": word}, None, True, 1, 1.0, [None], [[word]]]


def test_are_those_that_the_source_prints():
    assert {name: allowed_values(name) for name in SCHEMA} == PRINTED
    assert allowed_values("Risk") == ()
    assert [*SCHEMA["finance_knowledge"].values()] == ["Beginner", "Intermediate", "Advanced", "Expert"]


@table("name", SINGLE)
def test_takes_exactly_the_words_of_a_dimension(name):
    for word in PRINTED[name]:
        assert is_valid_tag_value(name, word)
        taken = [each for each in variants(word) if is_valid_tag_value(name, each)]
        assert [each for each in taken if each not in PRINTED[name]] == []


def test_takes_a_list_of_different_markets_and_nothing_else():
    assert is_valid_tag_value("markets", ["stocks"])
    assert is_valid_tag_value("markets", ["stocks", "memes"])
    for wrong in (
        [],
        ["stocks", "stocks"],
        "stocks",
        '["stocks"]',
        ["Stocks"],
        ["stocks", 1],
        ["stocks", ["memes"]],
    ):
        assert not is_valid_tag_value("markets", wrong), wrong


def test_stores_markets_as_a_json_array_in_the_order_of_the_schema():
    stored = serialize_tag_value("markets", ["stocks", "crypto_majors"])
    assert stored == '["crypto_majors","stocks"]'
    assert parse_stored_tag_value("markets", stored) == ("crypto_majors", "stocks")
    assert labels_of("markets", stored) == "crypto_majors, stocks"
    assert labels_of("web3_knowledge_level", "level_4") == "Pro"


def test_does_not_know_a_value_without_its_dimension():
    with pytest.raises(KeyError):
        labels_of("nothing", "level_1")
