"""Tags of the first version: the words that S3 spells, and no others."""

from profile_app.portrait.core.v1 import is_retired, migrate_tag
from tests.kit.tables import table

MIGRATED = [
    ("Risk Profile", "Conservative", "risk", "conservative"),
    ("Risk Profile", "conservative", "risk", "conservative"),
    ("Web3 Knowledge Level", "Familiar", "web3_knowledge_level", "level_2"),
    ("Web3 Knowledge Level", "level_4", "web3_knowledge_level", "level_4"),
    ("Decision-Making Style", "News/Event", "style", "news_event"),
    ("Asset Preference", '["Crypto Majors", "Stocks"]', "markets", ("crypto_majors", "stocks")),
    ("Asset Preference", "Pre-IPO, memes", "markets", ("memes", "pre_ipo")),
    ("FOMO Index", "Very Low", "FOMO Index", "Very Low"),
    ("finance_knowledge", "Expert", "finance_knowledge", "level_4"),
]
UNKNOWN = [
    ("Risk Profile", "CONSERVATIVE"),
    ("Risk Profile", "Moderate"),
    ("Risk Profile", " Conservative"),
    ("Risk Profile", "C\u043enservative"),
    ("risk profile", "Conservative"),
    ("Asset Preference", "Crypto Majors, NFTs"),
    ("Asset Preference", "Stocks, stocks"),
    ("Asset Preference", '{"a": 1}'),
    ("Asset Preference", '["Stocks", 1]'),
    ("Asset Preference", "[]"),
    ("Asset Preference", "["),
    ("Asset Preference", "[" * 1_000),
    ("Asset Preference", ""),
    ("FOMO Index", "very low"),
    ("Shoe Size", "43"),
]


@table(("name", "value", "today", "becomes"), MIGRATED)
def test_brings_over_what_is_spelled_as_printed(name, value, today, becomes):
    for source, stands in (
        ("user", "user"),
        ("declared", "user"),
        ("inferred", "inferred"),
        ("", "inferred"),
    ):
        assert migrate_tag(name, value, source) == (today, becomes, stands)


@table(("name", "value"), UNKNOWN)
def test_guesses_nothing(name, value):
    assert migrate_tag(name, value, "user") is None
    assert not is_retired(name)


def test_three_dimensions_are_retired():
    assert all(map(is_retired, ("Asset Tier", "Trading Frequency", "Learning Preference")))
