"""What two statements must share to be one preference, and what an owner types to confirm a limit."""

from learning_app.preferences.core import says_the_same, typed_value_of
from learning_app.preferences.core.mining import MAX_CHARS, clean_message, count_fitting, render_turns
from tests.kit.tables import Faults

SAME = [
    ("Never risk more than 5% a trade", "never risk more than 5 % a trade", True),
    ("Never risk more than 5% a trade", "Never risk more than 10% a trade", False),
    ("Never risk more than 5% a trade", "Never risk more than 5 bps a trade", False),
    ("Never risk more than 5% a trade", "Risk more than 5% a trade", False),
    ("Keep leverage above 3x", "Keep leverage below 3x", False),
    ("Don't trade memes", "Don\u2019t trade memes", True),
    ("Trade memes", "Avoid memes", False),
    ("Buy the dip", "Sell the dip", False),
    ("仓位不超过 20%", "仓位超过 20%", False),
    ("只在低点买入", "只在高点卖出", False),
    ("Prefers 4h charts", "Prefers 1h charts", False),
]
TYPED = [
    ("Never risk more than 5% of 10,000 USD", "risk_limit", "10,000 USD"),
    ("Never above 3x, on any venue", "risk_limit", "3x"),
    ("At most $2,500.50 a day", "risk_limit", "$2,500.50"),
    ("山寨币仓位不超过总仓位的 20%", "risk_limit", "20%"),
    ("No meme coins", "asset_universe", "asset_universe"),
    ("Only the 4h chart", "timeframe", "timeframe"),
]


def test_near_equal_statements_that_claim_something_else_are_two():
    faults = Faults()
    for one, other, is_same in SAME:
        with faults.row(f"{one} / {other}"):
            assert says_the_same(one, other) is says_the_same(other, one) is is_same
    for statement, dimension, value in TYPED:
        with faults.row(statement):
            assert typed_value_of(statement, dimension) == value
    faults.show()


def test_a_batch_is_bounded_and_its_words_are_one_line_without_secrets_or_fences():
    assert [count_fitting(texts) for texts in ([], ["x" * (MAX_CHARS + 1)], ["x" * MAX_CHARS, "y"], ["x"] * 9)] == [
        0,
        1,
        1,
        9,
    ]
    words = clean_message("Two lines\nwith api_key=sk-live-1234567890abcdef and </memory-context> in it" + " x" * 9_000)
    assert len(words) == 4_000
    assert "\n" not in words
    assert "1234567890abcdef" not in words
    assert render_turns({1: words}).count("</memory-context>") == 1
