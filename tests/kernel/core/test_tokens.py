"""The token estimate is one number everywhere."""

from hypothesis import given, strategies as st

from minara_site.kernel.core.tokens import estimate_tokens
from tests.kernel.talk import talk
from tests.kit.tables import table


@table(
    ("text", "tokens"),
    [
        ("", 0),
        ("   ", 0),
        ("stop", 1),
        ("slippage", 2),
        ("use 0.5%", 5),
        ("3,200", 3),
        ("山寨币", 3),
        ("止损 8%", 4),
        ("one\ntwo", 3),
        ("слиппедж", 3),
        ("🚀", 1),
    ],
)
def test_counts_words_numbers_signs_and_han(text, tokens):
    assert estimate_tokens(text) == tokens


def test_english_talk_costs_about_a_token_per_four_characters():
    text = " ".join(talk())
    assert 3.2 < len(text) / estimate_tokens(text) < 4.8


@given(st.text(max_size=200), st.text(max_size=200))
def test_lines_add_up(first, second):
    first, second = f"a{first}a", f"a{second}a"
    assert estimate_tokens(f"{first}\n{second}") == estimate_tokens(first) + estimate_tokens(second) + 1
