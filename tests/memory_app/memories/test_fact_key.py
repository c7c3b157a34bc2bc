"""What is spelled differently is the same fact; what means something else stays another one."""

from hypothesis import given, strategies as st

from memory_app.memories.core.fact_key import fact_key, normalize_fact
from tests.kit.tables import table

SAME = [
    ("Prefers weekly charts", "prefers WEEKLY charts"),
    ("prefers weekly charts", "  prefers\t weekly\n charts  "),
    ("prefers weekly charts", "prefers weekly charts."),
    ("prefers weekly charts", "prefers weekly charts!"),
    ("prefers weekly charts", "“prefers weekly charts”"),
    ("prefers weekly charts", "'prefers weekly charts'"),
    ("prefers weekly charts", "\uff50refers weekly charts"),
    ("don't use leverage", "don\u2019t use leverage"),
    ("risk \u22125%", "risk -5%"),
    ("caf\u00e9 money", "cafe\u0301 money"),
    ("Stra\u00dfe", "STRASSE"),
    ("holds ETH, never sells", "holds ETH , never sells"),
    ("prefers weekly charts", "\ufeffprefers\u200b week\u00adly charts\u2060"),
    ("يفضل الذهب", "\u200fيفضل \u2068الذهب\u2069."),
    ("likes \u2764", "likes \u2764\ufe0f"),
    ("cafe\u0301 money", "cafe\u200b\u0301 money"),
    ("偏好周线图", "偏好周线图。"),
    ("偏好 BTC 周线", "偏好BTC周线"),
    ("偏好BTC周线", "偏好\uff22\uff34\uff23周线"),
    ("喜欢BTC，不喜欢ETH", "喜欢 BTC, 不喜欢 ETH"),
    ("单笔亏损不超过 2%", "单笔亏损不超过2\uff05"),
    ("「偏好周线」", "偏好周线"),
]
DIFFERENT = [
    ("slippage of 0.5%", "slippage of 5%"),
    ("slippage of 0.5%", "slippage of 0.05%"),
    ("risk 5", "risk 5%"),
    ("risk -5%", "risk 5%"),
    ("risk +5%", "risk 5%"),
    ("gain of 10\u00b2", "gain of 102"),
    ("holds 1\u00bd", "holds 11/2"),
    ("do use leverage", "don't use leverage"),
    ("uses leverage", "never uses leverage"),
    ("holds BTC", "holds ETH"),
    ("pays $5", "pays \u20ac5"),
    ("trades 3x", "trades 3"),
    ("prefers weekly charts", "prefers weekly charts?"),
    ("we'll hold", "well hold"),
    (  # England and Scotland differ in tags alone
        "fan of \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "fan of \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    ),
    ("喜欢杠杆", "不喜欢杠杆"),
    ("亏损 -2%", "亏损 2%"),
    ("止损 8%", "止损 0.8%"),
]


@table(("one", "other"), SAME)
def test_says_the_same(one, other):
    assert normalize_fact(one) == normalize_fact(other)
    assert fact_key(one) == fact_key(other)


@table(("one", "other"), DIFFERENT)
def test_says_something_else(one, other):
    assert fact_key(one) != fact_key(other)


@given(st.text())
def test_normalises_once_and_for_all(text):
    once = normalize_fact(text)
    assert normalize_fact(once) == once


def test_a_text_of_marks_alone_is_like_no_other():
    assert len({fact_key("..."), fact_key("!!!"), fact_key("")}) == 3
