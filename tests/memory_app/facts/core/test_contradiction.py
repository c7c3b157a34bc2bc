"""Which pairs are worth a decision: about the same, with another value."""

from memory_app.facts.core.contradiction import Topic
from tests.kit.tables import table

MAY = [
    ("prefers weekly charts", "prefers daily charts"),
    ("uses leverage on ETH", "does not use leverage on ETH"),
    ("risk is 2% of capital per trade", "risk is 5% of capital per trade"),
    ("max leverage is 3x", "max leverage is 5x"),
    ("偏好周线图", "偏好日线图"),
    ("喜欢用杠杆交易", "不喜欢用杠杆交易"),
]
MAY_NOT = [
    ("prefers weekly charts", "prefers weekly charts of BTC"),
    ("long ETH since 2024", "long BTC since 2024"),
    ("prefers weekly charts", "lives in Lisbon"),
    ("holds ETH", "sells ETH"),
    ("never uses leverage", "does not use leverage"),
]


@table(("one", "other"), MAY)
def test_may_contradict(one, other):
    assert Topic(one).may_contradict(Topic(other))
    assert Topic(other).may_contradict(Topic(one))


@table(("one", "other"), MAY_NOT)
def test_does_not_contradict(one, other):
    assert not Topic(one).may_contradict(Topic(other))


def test_the_example_of_the_sources_stands_at_the_threshold():
    assert Topic("prefers weekly charts").similarity(Topic("prefers daily charts")) == 0.5


def test_without_words_nothing_is_alike():
    assert Topic("...").similarity(Topic("!!!")) == 0.0
