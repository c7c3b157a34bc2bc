"""Which stored text is most similar, with scikit-learn as the oracle."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from learning_app.similarity.core import Match, find_most_similar_tfidf, jaccard_4gram, terms_of
from tests.kit.tables import table

CORPUS = {
    1: "Buy when the RSI falls below 30 and turns up; sell at the moving average.",
    2: "Enter long when RSI is oversold and volume confirms the turning point.",
    3: "Funding rate is extreme: fade the crowd once open interest falls.",
    4: "资金费率极端时反向操作，等待持仓量下降。",
    5: "当 RSI 超卖并且成交量放大时买入比特币",
    6: "🚀🚀🚀",
    7: "Hold the currency that pays more interest while volatility stays low.",
}
WORDS = "rsi volume buy selling sold breakout 止损线 资金费率 30 the 的".split()
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def oracle(text: str, corpus: dict[int, str]) -> dict[int, float]:
    """Return scikit-learn's cosine of a text with each of a corpus, of the same words.

    It overlooks the words that only the text has; here they count, as long as the rarest, one each.
    """
    vectorizer = TfidfVectorizer(analyzer=lambda each: list(terms_of(each)), smooth_idf=True, norm=None)
    matrix: Any = normalize(vectorizer.fit_transform(corpus.values()))
    query: Any = vectorizer.transform([text])
    unknown = Counter(term for term in terms_of(text) if term not in vectorizer.vocabulary_)
    lengths = [number * (np.log(1 + len(corpus)) + 1) for number in unknown.values()]
    length = np.sqrt((query.toarray() ** 2).sum() + np.square(lengths).sum())
    return dict(zip(corpus, (matrix @ query.T).toarray().ravel() / (length or 1), strict=True))


def assert_agrees(text: str, corpus: dict[int, str]) -> None:
    scores = oracle(text, corpus)
    match = find_most_similar_tfidf(text, corpus)
    best = max(scores.values())
    if match is None:
        assert best == 0
        return
    assert match.score == pytest.approx(best, abs=1e-9)
    assert match.key == min(key for key, score in scores.items() if score > best - 1e-9)


@table(
    "text", [CORPUS[1], CORPUS[5], "RSI oversold: a dip to buy", "资金费率与 RSI", "carry in a calm market", "whale"]
)
def test_agrees_with_scikit_learn(text: str) -> None:
    assert_agrees(text, CORPUS)


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=6))
def test_agrees_with_scikit_learn_on_any_words(text: str, texts: list[str]) -> None:
    corpus = dict(enumerate(texts))
    if any(terms_of(text)) and any(any(terms_of(each)) for each in texts):
        assert_agrees(text, corpus)


@table(
    ("text", "terms"),
    [
        ("The RSI of the BTC is at 30", "rsi btc 30"),
        ("Don't buy above $3,200", "dont bui abov 3200"),
        ("stops, stopped, stopping", "stop stop stop"),
        ("Sell in May, when US rates rise", "sell mai us rate rise"),
        ("止损线", "止损 损线"),
        ("买 BTC", "买 btc"),
        ("价格在支撑位的下方", "价格 支撑 撑位 下方"),
        ("如果高于 200 日均线", "高于 200 日均 均线"),
        ("的，这 and of 🚀 !?", ""),
    ],
)
def test_takes_the_words_that_count(text: str, terms: str) -> None:
    assert " ".join(terms_of(text)) == terms


@table(
    ("text", "key"),
    [
        ("RSI oversold, enter long on volume", 2),
        ("fading an extreme funding rate", 3),
        ("资金费率极端时逆向交易", 4),
        ("RSI 超卖时买入", 5),
    ],
)
def test_finds_the_same_idea_in_its_own_language(text: str, key: int) -> None:
    match = find_most_similar_tfidf(text, CORPUS)
    assert match is not None
    assert match.key == key


def test_holds_opposite_actions_for_similar() -> None:
    """Words cannot tell them apart: the store does, by direction."""
    match = find_most_similar_tfidf("Buy BTC at support", {1: "Sell BTC at support"})
    assert match is not None
    assert match.score > 0.5
    assert jaccard_4gram("Buy BTC at support", "Sell BTC at support") > 0.6


def test_counts_a_word_that_only_the_query_has() -> None:
    match = find_most_similar_tfidf("RSI doji", {1: "RSI"})
    assert match is not None
    assert match.score < 0.6


@table(
    ("text", "corpus", "match"),
    [
        ("RSI", {}, None),
        ("RSI", {1: "MACD"}, None),
        ("RSI", {1: "macd", 2: "🚀"}, None),
        ("", {1: "RSI", 2: ""}, None),
        ("RSI", {2: "rsi", 1: "The RSI"}, Match(1, 1.0)),
        ("rsi macd volume", {"b": "volume RSI MACD", "a": "macd volume rsi"}, Match("a", 1.0)),
        ("🚀🚀🚀🚀", {1: "to the moon", 2: "🚀🚀🚀🚀🚀"}, Match(2, 1.0)),
        ("to be or", {1: "to be", 2: "To  be  of"}, Match(2, 2 / 3)),
        ("to be", {2: "to be", 1: "TO BE"}, Match(1, 1.0)),
        ("RSI", {1: "the r", 2: "of"}, None),
        ("sign", {1: "!!!", 2: "the sign"}, Match(2, 1.0)),
    ],
)
def test_falls_back_to_grams_only_where_words_say_nothing(text: str, corpus: dict[Any, str], match: Match[Any]) -> None:
    assert find_most_similar_tfidf(text, corpus) == match


@table(
    ("text", "other", "score"),
    [
        ("abcde", "abcdf", 1 / 3),
        ("ABCD  e", "abcd e", 1.0),
        ("abc", "abc", 1.0),
        ("abc", "abcd", 0.0),
        ("止损线在", "止损线在下", 0.5),
        ("", "abcd", 0.0),
        ("", " \u200b", 0.0),
    ],
)
def test_counts_shared_grams(text: str, other: str, score: float) -> None:
    assert jaccard_4gram(text, other) == pytest.approx(score)
