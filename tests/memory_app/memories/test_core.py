"""Rules of memories that need no database."""

from hypothesis import given, strategies as st

from memory_app.memories.core import content_hash, find_changes, merge_texts
from tests.kit.tables import table

WORDS = st.lists(st.sampled_from(["stop", "BTC", "8%", "止", "损", " ", "\n", "."]), max_size=12).map("".join)


def test_the_same_text_in_another_category_has_another_hash():
    assert content_hash("lesson", "Trail BTC") != content_hash("preference", "Trail BTC")
    assert content_hash("lesson", "x") == content_hash("lesson", "x")


@table(
    ("base", "mine", "theirs", "merged"),
    [
        ("Trail BTC by 5%", "Trail ETH by 5%", "Trail BTC by 8%", "Trail ETH by 8%"),
        ("Trail BTC by 5%", "Trail BTC by 8%", "Trail BTC by 8%", "Trail BTC by 8%"),
        ("Trail BTC by 5%", "Trail BTC by 5%", "Trail BTC by 8%", "Trail BTC by 8%"),
        ("Trail BTC by 5%", "Always trail BTC by 5%", "Trail BTC by 5% in 2026", "Always trail BTC by 5% in 2026"),
        ("Trail BTC by 5%", "Trail BTC by 6%", "Trail BTC by 8%", None),
        ("Trail BTC", "Trail BTC daily", "Trail BTC weekly", None),
        ("One. Two. Three.", "One. Three.", "One. 2. Three.", None),
        ("止损百分之五", "止损百分之八", "止盈百分之五", "止盈百分之八"),
    ],
)
def test_keeps_both_changes_unless_they_meet(base, mine, theirs, merged):
    assert merge_texts(base=base, mine=mine, theirs=theirs) == merged


@given(WORDS, WORDS)
def test_changes_turn_one_text_into_the_other(before, after):
    pieces, place = [], 0
    for change in find_changes(before, after):
        assert change.start >= place
        pieces += [before[place : change.start], change.text]
        place = change.end
    assert "".join([*pieces, before[place:]]) == after


@given(WORDS, WORDS)
def test_a_side_that_changed_nothing_never_conflicts(base, theirs):
    assert merge_texts(base=base, mine=base, theirs=theirs) == theirs
    assert merge_texts(base=base, mine=theirs, theirs=base) == theirs
    assert merge_texts(base=base, mine=theirs, theirs=theirs) == theirs


@given(WORDS, WORDS, WORDS)
def test_merging_does_not_depend_on_who_is_who(base, mine, theirs):
    assert merge_texts(base=base, mine=mine, theirs=theirs) == merge_texts(base=base, mine=theirs, theirs=mine)
