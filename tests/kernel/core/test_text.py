"""The tokenizer: the same words in index, query and highlight, whatever is written."""

import sqlite3
import sys

from hypothesis import example, given, settings, strategies as st

from minara_site.kernel.core.porter import beginning, stem
from minara_site.kernel.core.text import MAX_TOKEN_CHARS, Token, prepare, tokenize, word_spans
from tests.kit.tables import table

ODD = st.text(alphabet=st.sampled_from("ab1S0,'’_.-$% é\u0301止损线ガ\u200b½ßﬁ안0123ſİ™"), max_size=40)
ANY = st.text(max_size=60)


@table(
    ("text", "words"),
    [
        ("", ""),
        ("!?%", ""),
        ("BTC-USD", "btc usd"),
        ("EUR/USD", "eur usd"),
        ("0.5%", "0 5"),
        ("$3200", "3200"),
        ("$3,200.50", "3200 50"),
        ("1,234,567", "1234567"),
        ("12,34", "12 34"),
        ("$3,200, closed; 1,000,5", "3200 closed 1 000 5"),
        ("1,2345", "1 2345"),
        ("2019,2018", "2019 2018"),
        ("1,234abc", "1 234abc"),
        ("user's", "user"),
        ("user’s stops", "user stops"),
        ("users' stops", "users stops"),
        ("don't rock'n'roll", "dont rocknroll"),
        ("trade_outcome", "trade outcome"),
        ("Café QUÉBEC", "cafe quebec"),
        ("５０％ ＢＴＣ", "50 btc"),
        ("Straße", "strasse"),
        ("slip\u00adpage slip\u200bpage", "slippage slippage"),
        ("山寨币", "山寨 寨币 币"),
        ("损", "损"),
        ("AAPL止损设为 5%", "aapl 止损 损设 设为 为 5"),
        ("用户，长期", "用户 户 长期 期"),
        ("ｶﾞｽ", "ガス ス"),
        ("이더리움을", "이더 더리 리움 움을 을"),
        ("🚀 to the moon", "to the moon"),
        ("a\0b", "a b"),
        ("0x" + "aB" * 20, "0x" + "ab" * 20),
    ],
)
def test_cuts_text_into_words(text, words):
    assert prepare(text) == words


def test_cuts_very_long_words_short():
    assert prepare("x" * 5_000) == "x" * MAX_TOKEN_CHARS


@given(ODD | ANY)
@example("x',01,000's0")
@example("user's'")
@example("ﾞ")
def test_agrees_with_itself_token_by_token(text):
    tokens = list(tokenize(text))
    assert prepare(text) == " ".join(token.text for token in tokens)
    assert word_spans(text) == [(token.start, token.end) for token in tokens]
    assert all(0 <= token.start < token.end <= len(text) for token in tokens)
    assert all(token.text.replace(" ", "").isalnum() and len(token.text) <= MAX_TOKEN_CHARS for token in tokens)


@given(ODD | ANY)
def test_gives_the_index_only_letters_and_digits(text):
    assert all(char == " " or char.isalnum() for char in prepare(text))


def test_marks_the_tail_of_a_run():
    assert list(tokenize("a 止损")) == [Token("a", 0, 1), Token("止损", 2, 4), Token("损", 3, 4, is_tail=True)]


def fts5_terms(texts: list[str]) -> dict[int, list[str]]:
    """Return the terms that FTS5 indexes for each text."""
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize='porter unicode61')")
        base.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(words, 'instance')")
        base.executemany("INSERT INTO words(rowid, body) VALUES (?, ?)", list(enumerate(texts)))
        found: dict[int, list[str]] = {}
        for term, row in base.execute("SELECT term, doc FROM terms ORDER BY doc, offset"):
            found.setdefault(row, []).append(term)
        return found


def test_knows_no_character_that_fts5_does_not_know():
    characters = (chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
    prepared = [prepare(f"a{char}b") for char in characters if prepare(char)]
    indexed = fts5_terms(prepared)
    assert len(prepared) > 90_000
    assert [p for row, p in enumerate(prepared) if indexed.get(row) != [stem(word) for word in p.split()]] == []


@given(st.lists(ODD | ANY, max_size=20))
@settings(max_examples=50)
def test_stems_as_fts5_does(texts):
    prepared = [prepare(text) for text in texts]
    indexed = fts5_terms(prepared)
    assert [indexed.get(row, []) for row in range(len(prepared))] == [[stem(w) for w in p.split()] for p in prepared]


SUFFIXES = (
    "ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti "
    "iviti biliti ical ness icate iciti ful ative alize al ance ence er ic able ible ant ement ment ent ion ou ism ate "
    "iti ous ive ize sses ies ss s eed ed ing y e ll at bl iz ying ly"
).split()  # noqa: RUF100, SIM905


@given(
    st.lists(
        st.builds(
            "{}{}{}".format,
            st.text(alphabet="abcdeilnorstuyxwzø", max_size=6),
            st.sampled_from(SUFFIXES),
            st.sampled_from(["", "", *SUFFIXES]),
        ),
        min_size=50,
        max_size=200,
    )
)
@settings(max_examples=60)
def test_stems_every_suffix_as_fts5_does(words):
    indexed = fts5_terms(words)
    assert {word: stem(word) for word in words} == {word: indexed[row][0] for row, word in enumerate(words)}
    assert all(word.startswith(beginning(stem(word))) for word in words)


@table(
    ("word", "expected"),
    [
        ("stopping", "stop"),
        ("stops", "stop"),
        ("slippage", "slippag"),
        ("methodology", "methodolog"),
        ("is", "is"),
        ("x" * 70 + "s", "x" * 70 + "s"),
    ],
)
def test_stems_a_word(word, expected):
    assert stem(word) == expected
