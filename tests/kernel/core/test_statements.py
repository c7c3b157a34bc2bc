"""Texts that cannot both be true, and texts against a limit: on pairs that others wrote, and the inputs that are hard."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

from hypothesis import given, strategies as st

from minara_site.kernel.core.statements import MAX_STATEMENTS, contradict, forbids, read_statements
from tests.kit.tables import table

PAIRS = json.loads((Path(__file__).parent / "statement_pairs.json").read_text("utf-8"))
FLOORS = {"figure": 0.85, "exclusive": 0.6, "against_limit": 0.7}
CEILINGS = {"harmless": 0.03, "obeys_limit": 0.05}
PATTERNS = (
    "fact number {0} about ETH staking",
    "observation {0}: ETH funding was 0.0{0}%",
    "memory {0} of a writer",
    "note {0}: the plan for BTC",
    "trade {0}: bought {0} ETH at 3{0}00",
    "事实{0}关于以太坊质押",
    "第{0}条笔记",
)


def count_found(chosen):
    """Return by language and family how many of these pairs are found, and how many there are."""
    found, total = Counter(), Counter()
    for _set, language, family, one, other in chosen:
        judge = forbids if "limit" in family else contradict
        found[language, family] += judge(one, other)
        total[language, family] += 1
    return {name: (found[name], count) for name, count in total.items()}


@table("name", ["first", "second", "unseen"])
def test_finds_what_others_wrote_and_leaves_the_harmless_alone(name):
    """`unseen` was written after the rule, the other two before its words were chosen."""
    for (language, family), (found, total) in count_found(row for row in PAIRS if row[0] == name).items():
        if language == "mixed":
            continue
        assert found >= FLOORS.get(family, 0) * total, (language, family, found)
        assert found <= CEILINGS.get(family, 1) * total, (language, family, found)


@table("pattern", PATTERNS)
def test_marks_none_of_many_rows_of_one_pattern(pattern):
    rows = [pattern.format(number) for number in range(1, 60)]
    assert [pair for pair in combinations(rows, 2) if contradict(*pair)] == []


@table(
    ("one", "other", "is_found"),
    [
        ("Q3 revenue guidance is 36B", "Q3 revenue guidance is 40B", True),
        ("Q3 revenue guidance is $36bn", "Q3 sales guidance: 36 billion dollars", False),
        ("rate is 5.00 %", "rate is 5.25 %", True),
        ("rate cut of 25 bps", "rate cut of 0.25%", False),
        ("earnings on the 22nd", "earnings on the 29th", True),
        ("budget is 1,000", "budget is 1k", False),
        ("预算1万元", "预算10,000元", False),
        ("holding time is 2-6 weeks", "holding time is 4-8 weeks", False),
        ("stop at about 2", "stop at 2.3", False),
        ("2025 guidance is 36B", "2026 guidance is 40B", False),
        ("prefers weekly charts", "prefers daily charts", True),
        ("lives in Berlin", "lives in Berlin, Germany", False),
        ("lives in Berlin", "my brother lives in Munich", False),
        ("uses Binance", "uses Kraken", False),
        ("holds ETH", "sold some ETH", False),
        ("2026-03-01 bought 2 ETH", "2026-03-02 bought 3 ETH", False),
        ("Does the user live in Berlin?", "lives in Munich", False),
    ],
)
def test_reads_numbers_units_times_and_subjects(one, other, is_found):
    assert contradict(one, other) is contradict(other, one) is is_found


@table(
    ("limit", "text", "is_against"),
    [
        ("Never use more than 2x leverage", "wants leverage of 10x", True),
        ("Never use more than 2x leverage", "uses 1.5x leverage", False),
        ("Never use more than 2x leverage", "never goes above 2x leverage", False),
        ("At least 20% in cash", "keeps 5% in cash", True),
        ("At least 20% in cash", "keeps 25% in cash", False),
        ("Never trade meme coins", "wants to buy PEPE", True),
        ("Never more than 5x on BTC", "uses 10x on ETH", False),
        ("Never more than 5x on BTC", "uses 10x leverage", True),
        ("杠杆最多2倍", "想用10倍杠杆", True),
        ("No margin", "Is margin a good idea?", False),
    ],
)
def test_reads_the_bound_of_a_limit(limit, text, is_against):
    assert forbids(limit, text) is is_against


@given(st.text(max_size=300), st.text(max_size=300))
def test_reads_whatever_there_is_and_no_text_against_itself(one, other):
    assert len(read_statements(one)) <= MAX_STATEMENTS
    assert not contradict(one, one)
    assert contradict(one, other) == contradict(other, one)
    forbids(one, other)
