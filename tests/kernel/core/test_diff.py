"""Word diffs give both texts back, are as short as can be, and are never slow."""

from functools import cache
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from minara_site.kernel.core.diff import Op, Segment, line_diff, word_diff
from tests.kit.tables import table

EQUAL, DELETE, INSERT = Op.EQUAL, Op.DELETE, Op.INSERT


@table(
    ("before", "after", "expected"),
    [
        ("", "", []),
        ("same words", "same words", [(EQUAL, "same words")]),
        ("", "new", [(INSERT, "new")]),
        ("old", "", [(DELETE, "old")]),
        ("trail 8%", "trail 5%", [(EQUAL, "trail "), (DELETE, "8"), (INSERT, "5"), (EQUAL, "%")]),
        ("a b c", "x y z", [(DELETE, "a b c"), (INSERT, "x y z")]),
        ("a b", "a b c", [(EQUAL, "a b"), (INSERT, " c")]),
        ("x a b y", "x y", [(EQUAL, "x "), (DELETE, "a b "), (EQUAL, "y")]),
        (
            "仓位不超过3%",
            "总仓位不超过5%",
            [(INSERT, "总"), (EQUAL, "仓位不超过"), (DELETE, "3"), (INSERT, "5"), (EQUAL, "%")],
        ),
        ("one\ntwo", "one two", [(EQUAL, "one"), (DELETE, "\n"), (INSERT, " "), (EQUAL, "two")]),
    ],
)
def test_shows_what_changed(before, after, expected):
    assert word_diff(before, after) == [Segment(*piece) for piece in expected]


texts = st.text(st.sampled_from("ab山仓 \n.%\u200b"), max_size=60) | st.text(max_size=60)


def side(segments, op):
    return "".join(segment.text for segment in segments if segment.op in {EQUAL, op})


@settings(max_examples=500)
@given(texts, texts)
def test_gives_both_texts_back(before, after):
    segments = word_diff(before, after)
    assert side(segments, DELETE) == before
    assert side(segments, INSERT) == after
    assert all(one.op is not other.op for one, other in pairwise(segments))
    assert all(segment.text for segment in segments)


def test_lines_are_whole():
    assert line_diff("a\nb\n\nc", "a\nx\n\nc\n") == [
        (EQUAL, "a\n"),
        (DELETE, "b\n"),
        (INSERT, "x\n"),
        (EQUAL, "\n"),
        (DELETE, "c"),
        (INSERT, "c\n"),
    ]


@given(texts, texts)
def test_lines_give_both_texts_back(before, after):
    segments = line_diff(before, after)
    assert side(segments, DELETE) == before
    assert side(segments, INSERT) == after
    assert all("\n" not in segment.text[:-1] for segment in segments)


@given(st.text("山仓币", max_size=14), st.text("山仓位", max_size=14))
def test_keeps_the_longest_common_subsequence(before, after):
    @cache
    def common(i, j):
        if i == len(before) or j == len(after):
            return 0
        return 1 + common(i + 1, j + 1) if before[i] == after[j] else max(common(i + 1, j), common(i, j + 1))

    kept = sum(len(segment.text) for segment in word_diff(before, after) if segment.op is EQUAL)
    assert kept == common(0, 0)
