"""Hidden characters: what a person cannot see is found, named and shown."""

import unicodedata

from hypothesis import given, strategies as st

from minara_site.kernel.core.hidden import HiddenKind, find_hidden, has_hidden, split_hidden, visible
from tests.kit.tables import table

SHOWN = {
    "\0": (HiddenKind.CONTROL, "U+0000"),
    "\x1b": (HiddenKind.CONTROL, "U+001B"),
    "\u200b": (HiddenKind.ZERO_WIDTH, "U+200B"),
    "\ufeff": (HiddenKind.ZERO_WIDTH, "U+FEFF"),
    "\u202e": (HiddenKind.BIDI, "U+202E"),
    "\u2069": (HiddenKind.BIDI, "U+2069"),
    "\U000e0041": (HiddenKind.TAG, "U+E0041"),
    "\ufe0f": (HiddenKind.VARIATION, "U+FE0F"),
    "\U000e0101": (HiddenKind.VARIATION, "U+E0101"),
    "\u00ad": (HiddenKind.SOFT_HYPHEN, "U+00AD"),
    "\u3164": (HiddenKind.FILLER, "U+3164"),
    "\u2028": (HiddenKind.LINE_BREAK, "U+2028"),
    "\ud800": (HiddenKind.SURROGATE, "U+D800"),
    "\ue000": (HiddenKind.PRIVATE, "U+E000"),
    "\u2062": (HiddenKind.OTHER, "U+2062"),
}


@table(("char", "expected"), SHOWN.items(), ids=[code for _, code in SHOWN.values()])
def test_names_what_is_hidden(char, expected):
    [found] = find_hidden(f"ab{char}c")
    assert (found.index, found.char) == (2, char)
    assert (found.kind, found.code) == expected
    assert visible(f"ab{char}c") == f"ab<{found.code}>c"


def test_finds_every_format_and_control_character_of_unicode():
    plain = {"\t", "\n", "\r"}
    prefixed_signs = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u0890\u0891\u08e2")
    egyptian_and_shorthand = {chr(code) for code in (0x110BD, 0x110CD, *range(0x13430, 0x13440))}
    missed = [
        f"U+{code:04X}"
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in {"Cf", "Cc", "Zl", "Zp", "Cs", "Co"}
        and chr(code) not in plain | prefixed_signs | egyptian_and_shorthand
        and not has_hidden(chr(code))
    ]
    assert missed == []


@table("text", ["", "a < b", "山寨币止损 3%", "line\nline\tcell\r\n", "naïve €3,200 → −7.8%", "👍 🇨🇭"])
def test_leaves_plain_text_as_it_is(text):
    assert not has_hidden(text)
    assert visible(text) == text


def test_shows_the_joiners_inside_an_emoji_too():
    assert visible("❤\ufe0f") == "❤<U+FE0F>"


@given(st.text(st.sampled_from([*SHOWN, "a", "<", "山", "\n"]), max_size=40))
def test_runs_joined_are_the_text(text):
    runs = split_hidden(text)
    assert "".join(run.text for run in runs) == text
    assert [run.hidden for run in runs if run.hidden] == find_hidden(text)
    assert all(run.text for run in runs)
    assert has_hidden(text) == bool(find_hidden(text))
