"""The query language: what each query asks for, and that any text parses."""

from datetime import date

from hypothesis import example, given, strategies as st

from memory_app.index.core.parser import MAX_QUERY_CHARS, MAX_TERMS, parse_query
from memory_app.index.core.query import AllOf, AnyOf, Filters, Node, NoteCode, Query, Term, terms_of
from tests.kit.shared import corpus
from tests.kit.tables import table


def show(node: Node | None) -> str:
    """Return a node in one line: a word, [a phrase], {any|of}, (all&of), -not, with ~ before what only ranks."""
    match node:
        case None:
            return ""
        case Term(tokens, is_prefix):
            words = " ".join(tokens) + "*" * is_prefix
            return f"[{words}]" if len(tokens) > 1 else words
        case AnyOf(parts):
            return "{" + "|".join(map(show, parts)) + "}"
        case AllOf(parts, excluded, boosts):
            shown = [
                *map(show, parts),
                *(f"-{show(part)}" for part in excluded),
                *(f"~{show(term)}" for term in boosts),
            ]
            return "(" + "&".join(shown) + ")"


def codes(query: Query) -> list[NoteCode]:
    return [note.code for note in query.notes]


@table(
    ("text", "shown"),
    [
        ("slippage", "slippage"),
        ("slippage impact", "{slippage|impact}"),
        ("slippage AND base", "(slippage&base)"),
        ("slippage OR impact", "{slippage|impact}"),
        ("btc NOT eth", "(btc&-eth)"),
        ("NOT eth", "(-eth)"),
        ("btc AND NOT eth", "(btc&-eth)"),
        ("btc OR NOT eth", "{btc|(-eth)}"),
        ('"always use"', "[always use]"),
        ('"always use" slippage', "([always use]&~slippage)"),
        ('"always use" AND slippage', "([always use]&slippage)"),
        ('"always use" "base"', "([always use]&base)"),
        ("slip*", "slip*"),
        ('"trailing sto"*', "[trailing sto*]"),
        ("BTC-USD", "[btc usd]"),
        ("EUR/USD", "[eur usd]"),
        ("0.5%", "[0 5]"),
        ("$3200", "3200"),
        ("user's", "user"),
        ("a NOT b OR c", "{(a&-b)|c}"),
        ("a AND b NOT c", "(a&b&-c)"),
        ("stop loss AND btc eth", "({stop|loss}&{btc|eth})"),
        ("(a OR b) AND c", "({a|b}&c)"),
        ("((x))", "x"),
        ("btc btc BTC", "btc"),
        ("stops stopping", "stops"),
        ("止损", "止损"),
        ("损", "损*"),
        ("山寨币", "[山寨 寨币]"),
        ("我的止损", "{我的|的止|止损}"),
        ("AAPL止损", "{aapl|止损}"),
        ('"止损 BTC"', "[止损 损 btc]"),
        ('"BTC 止损"', "[btc 止损]"),
        ('"BTC 止"', "[btc 止*]"),
        ("“smart quotes”", "[smart quotes]"),
        ("what is the slippage", "slippage"),
        ("what is it", "{what|is|it}"),
        ('"always use', "{always|use}"),
        ('27" screen category:lesson', "{27|screen}"),
        ('"a b" c "d', "([a b]&~c&~d)"),
        ("IT stocks", "{it|stocks}"),
        ("and or not", "{and|or|not}"),
        ("x) OR (owner:u2", "{x|[owner u2]}"),
        ("content:btc", "[content btc]"),
        ("NEAR(a b, 5)", "{near|b|5}"),
        ("^slip", "slip"),
        ("*reads", "reads"),
        ("", ""),
        ("   ", ""),
        ("%", ""),
        ("()", ""),
        ('""', ""),
    ],
)
def test_reads(text, shown):
    assert show(parse_query(text).node) == shown


@table(
    ("text", "pairs"),
    [
        ("stop loss order", ["stop loss", "loss order"]),
        ("stop the loss", []),
        ('stop "x" loss', []),
        ("sto* loss", []),
        ("stop los*", ["stop los*"]),
        ("止损设置", ["止损 损设", "损设 设置"]),
    ],
)
def test_keeps_the_neighbours(text, pairs):
    node = parse_query(text).node
    assert isinstance(node, AnyOf | AllOf)
    assert [str(pair) for pair in node.pairs] == pairs


@table(
    ("text", "filters", "shown"),
    [
        ("category:preference slippage", Filters(categories=frozenset({"preference"})), "slippage"),
        ("slippage category:Preference", Filters(categories=frozenset({"preference"})), "slippage"),
        ('category:"trade_outcome"', Filters(categories=frozenset({"trade_outcome"})), ""),
        ("category:lesson category:alert x", Filters(categories=frozenset({"lesson", "alert"})), "x"),
        ("x AND category:lesson AND y", Filters(categories=frozenset({"lesson"})), "(x&y)"),
        ("category:lesson AND x", Filters(categories=frozenset({"lesson"})), "x"),
        ("NOT category:lesson x", Filters(not_categories=frozenset({"lesson"})), "x"),
        ("x AND NOT source:inferred", Filters(not_sources=frozenset({"inferred"})), "x"),
        ("source:inferred", Filters(sources=frozenset({"inferred"})), ""),
        ("after:2026-05 before:2026-06-15 x", Filters(after=date(2026, 5, 1), before=date(2026, 6, 15)), "x"),
        ("asset:btc-usdt x", Filters(assets=frozenset({"BTC"})), "x"),
        ("asset:以太坊 asset:EUR/USD", Filters(assets=frozenset({"ETH", "EURUSD"})), ""),
        ("x NOT asset:Bitcoin", Filters(not_assets=frozenset({"BTC"})), "x"),
        ("asset:dollars", Filters(assets=frozenset({"DOLLARS"})), ""),
        ("before:2026", Filters(before=date(2026, 1, 1)), ""),
        ("category：lesson x", Filters(categories=frozenset({"lesson"})), "x"),
        ("category: lesson", Filters(), "{category|lesson}"),
        ("mycategory:lesson", Filters(), "[mycategory lesson]"),
    ],
)
def test_takes_filters_out(text, filters, shown):
    query = parse_query(text)
    assert query.filters == filters
    assert show(query.node) == shown
    assert not query.literal


@table(
    ("text", "expected"),
    [
        ("slippage", []),
        ('always use"', []),
        ('"always use', [NoteCode.QUOTE_IGNORED]),
        ("a) AND b", [NoteCode.PARENTHESIS_IGNORED]),
        ("(a AND b", [NoteCode.PARENTHESIS_IGNORED]),
        ("btc AND", [NoteCode.OPERATOR_IGNORED]),
        ("AND btc", [NoteCode.OPERATOR_IGNORED]),
        ("btc NOT", [NoteCode.OPERATOR_IGNORED]),
        ("OR", [NoteCode.OPERATOR_IGNORED]),
        ("btc OR category:lesson", [NoteCode.FILTER_NARROWS]),
        ("category:lesson OR btc", [NoteCode.FILTER_NARROWS]),
        ("s*", [NoteCode.PREFIX_TOO_SHORT]),
        ("category:nope x", [NoteCode.UNKNOWN_CATEGORY]),
        ("source:nope x", [NoteCode.UNKNOWN_SOURCE]),
        ("asset:% x", [NoteCode.UNKNOWN_ASSET]),
        ("asset:etherium x", [NoteCode.UNKNOWN_ASSET]),
        ("asset:usd x", [NoteCode.UNKNOWN_ASSET]),
        ("before:2026-13 x", [NoteCode.BAD_DATE]),
        ("after:yesterday x", [NoteCode.BAD_DATE]),
        (" ".join(f"w{n}" for n in range(60)), [NoteCode.TOO_MANY_WORDS]),
        ("%", [NoteCode.LITERAL]),
    ],
)
def test_says_what_it_repaired(text, expected):
    assert codes(parse_query(text)) == expected


def test_reads_only_the_first_characters_of_an_over_long_text():
    assert parse_query("a" * MAX_QUERY_CHARS + " b") == parse_query("a" * MAX_QUERY_CHARS)


@table(
    ("text", "shown"),
    [
        ('"always use"', "{always|use}"),
        ('"what is slippage" impact', "{slippage|impact}"),
        ('"always use" AND base', "({always|use}&base)"),
        ('"trailing sto"*', "{trailing|sto*}"),
        ('btc NOT "always use"', "(btc&-[always use])"),
        ('"stop loss" NOT (eth "always use")', "({stop|loss}&-([always use]&~eth))"),
    ],
)
def test_takes_phrases_for_their_words_except_what_is_excluded(text, shown):
    query = parse_query(text, unquotes=True)
    assert show(query.node) == shown
    assert query.words == parse_query(text).words


@table(
    ("text", "left_out", "whole"),
    [
        ("slippage", (), "slippage"),
        ("what is slippage", ("what", "is"), "{what|is|slippage}"),
        ("(see the chart)", ("the",), "{see|the|chart}"),
        ("what is it", (), "{what|is|it}"),
    ],
)
def test_knows_what_is_too_common(text, left_out, whole):
    query = parse_query(text)
    assert (query.left_out, show(query.whole)) == (left_out, whole)


def test_looks_for_text_without_words_as_it_stands():
    assert parse_query(" 🚀% ").literal == "🚀%"


def test_survives_deep_parentheses():
    query = parse_query("(" * 200 + "a AND b" + ")" * 200)
    assert show(query.node) == "(a&b)"


PIECES = 'a btc AND OR NOT ( ) " * category:lesson before:2026 止损 0.5% - the'.split()


@given(st.lists(st.sampled_from(PIECES)).map(" ".join) | st.lists(st.sampled_from(PIECES)).map("".join) | st.text())
@example('"' * 512)
@example("(" * 512)
@example("a AND " * 80)
@example("NOT " * 100)
@example("止" * 512)
def test_parses_any_text(text):
    query = parse_query(text)
    terms = list(terms_of(query.node))
    assert all(token.isalnum() for term in terms for token in term.tokens)
    assert len(terms) <= MAX_TERMS
    has_content = any(char.isalnum() for term in terms for token in term.tokens for char in token)
    assert bool(terms) == has_content
    assert not (query.literal and (query.node or query.filters != Filters()))
    assert query == parse_query(text)


def test_parses_the_corpus():
    for row in corpus("fts5_queries"):
        query = parse_query(row["q"])
        assert query.node or query.literal or query.filters != Filters() or not row["q"].strip(), row
