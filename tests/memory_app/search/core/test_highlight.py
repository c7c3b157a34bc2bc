"""What a query found is marked in the text as it was written."""

from hypothesis import given, strategies as st

from memory_app.index.core.highlight import Highlighter
from memory_app.index.core.parser import parse_query
from minara_site.kernel.core.excerpt import EXCERPT_CHARS, cut, excerpt
from minara_site.kernel.core.text import prepare
from tests.kit.tables import table


def marked(query: str, text: str) -> str:
    """Return the text with hits in brackets."""
    parsed = parse_query(query)
    segments = Highlighter(parsed.node, parsed.literal).mark(text).segments
    assert "".join(piece for piece, _is_hit in segments) == text
    return "".join(f"[{piece}]" if is_hit else piece for piece, is_hit in segments)


@table(
    ("query", "text", "expected"),
    [
        ("slippage", "Slippage of 0.5%", "[Slippage] of 0.5%"),
        ("stop", "stopping at stops", "[stopping] at [stops]"),
        ("0.5%", "slippage to 0.5% now", "slippage to [0.5]% now"),
        ("5", "0.5 and 5", "0.[5] and [5]"),
        ("$3200", "long from $3,200.", "long from $[3,200]."),
        ("BTC-USD", "the btc/usd pair", "the [btc/usd] pair"),
        ("user", "the user's stops", "the [user's] stops"),
        ('"trailing stop"', "a trailing stop and a stop", "a [trailing stop] and a stop"),
        ("slip*", "slippage, slips, lips", "[slippage], [slips], lips"),
        ('"trailing sto"*', "trailing stops", "[trailing stops]"),
        ("btc eth", "ETH then BTC", "[ETH] then [BTC]"),
        ("btc NOT eth", "btc and eth", "[btc] and eth"),
        ("止损", "AAPL止损设为 5%", "AAPL[止损]设为 5%"),
        ("损", "止损线", "止[损]线"),
        ("山寨币", "买山寨币崩了", "买[山寨币]崩了"),
        ("我的止损设置", "止损设为", "[止损设]为"),
        ("cafe", "Café", "[Café]"),
        ("slippage", "slip\u200bpage", "[slip\u200bpage]"),
        ("btc", "ＢＴＣ", "[ＢＴＣ]"),
        ("%", "5% and 6%", "5[%] and 6[%]"),
        ("nothing", "else here", "else here"),
        ("slippage", "", ""),
    ],
)
def test_marks(query, text, expected):
    assert marked(query, text) == expected


def test_names_what_matched():
    parsed = parse_query('"trailing stop" btc slip*')
    found = Highlighter(parsed.node).mark("trailing stops limit slippage")
    assert set(found.matched) == {"trailing stop", "slip*"}


@given(st.text(max_size=80), st.text(max_size=80))
def test_never_changes_the_text(query, text):
    marked(query, text)


@given(st.text(alphabet=st.sampled_from("ab '’,0123止损é\u0301\u200bS"), max_size=40))
def test_finds_every_text_in_itself(text):
    node = parse_query(f'"{text}"').node
    assert (node is None) == (not prepare(text))
    if node is not None:
        assert Highlighter(node).mark(text).matched


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30))))
def test_cuts_along_any_spans(text, spans):
    inside = [(a, b) for a, b in spans if a < b <= len(text)]
    segments = cut(text, inside)
    assert "".join(piece for piece, _is_hit in segments) == text
    assert all(piece for piece, _is_hit in segments)
    hit = "".join(piece for piece, is_hit in segments if is_hit)
    assert len(hit) == len({at for a, b in inside for at in range(a, b)})


def test_leaves_a_short_text_whole():
    segments = (("short ", False), ("hit", True))
    assert excerpt(segments) == segments


def test_shows_a_long_text_around_its_first_hit():
    text = "word " * 400 + "slippage" + " word" * 400
    shown = excerpt(Highlighter(parse_query("slippage").node).mark(text).segments)
    assert ("slippage", True) in shown
    assert shown[0] == ("…", False)
    assert shown[-1] == ("…", False)
    assert sum(len(piece) for piece, _is_hit in shown) == EXCERPT_CHARS + 2


def test_shows_the_end_of_a_long_text_when_its_hit_is_there():
    shown = excerpt((("x" * 1_000, False), ("hit", True)))
    assert shown == (("…", False), ("x" * (EXCERPT_CHARS - 3), False), ("hit", True))


def test_shows_the_beginning_of_a_long_text_without_hits():
    shown = excerpt((("x" * 1_000, False),))
    assert shown == (("x" * EXCERPT_CHARS, False), ("…", False))
