"""A price far from the one before is in doubt until the very next one agrees."""

from datetime import timedelta
from decimal import Decimal
from itertools import pairwise

from hypothesis import given, strategies as st

from minara_site.kernel.market.core.doubts import PriceKey, find_doubted
from tests.kernel.market.rows import T0
from tests.kit.tables import Faults

TICK = timedelta(microseconds=1)
MINUTE = timedelta(minutes=1)


def doubted(*prices: tuple[float, str], symbol: str = "BTC") -> list[float]:
    """Return the minutes of those in doubt; a price that is settled has a `!`, that of a candle a `c`."""
    keys, judged = {}, set()
    for minute, text in prices:
        key = PriceKey(symbol, T0 + minute * MINUTE, 3600 if "c" in text else 0)
        keys[key] = Decimal(text.strip("!c"))
        if "!" not in text:
            judged.add(key)
    return [(key.at - T0) / MINUTE for key in sorted(find_doubted(keys, judged))]


def test_each_rule_at_its_bound() -> None:
    faults = Faults()
    for prices, expected in (
        ([], []),
        ([(0, "100")], []),
        ([(0, "100"), (60, "2000")], []),
        ([(0, "100"), (60, "2000.01")], [60]),
        ([(0, "100"), (60, "5")], []),
        ([(0, "100"), (60, "4.9999")], [60]),
        ([(0, "100"), (60.001, "9000")], []),
        ([(0, "100"), (1, "9000"), (61, "18000")], []),
        ([(0, "100"), (1, "9000"), (61, "4500")], []),
        ([(0, "100"), (1, "9000"), (61.001, "9000")], [1]),  # too late to agree
        ([(0, "100"), (1, "9000"), (2, "4499")], [1, 2]),
        ([(0, "100"), (1, "9000"), (2, "101")], [1]),
        ([(0, "100"), (1, "9000"), (2, "101"), (3, "9000"), (4, "102")], [1, 3]),  # two sources that take turns
        ([(0, "100"), (1, "9000"), (2, "1"), (3, "9000"), (4, "9000")], [1, 2]),  # 2: far from 100, and alone
        ([(0, "9000"), (1, "100"), (2, "101"), (3, "9000")], [3]),
        ([(0, "100"), (1, "9000c"), (1, "9000"), (2, "100")], [1, 1]),  # of one moment neither is the next
        ([(0, "100!"), (1, "9000")], [1]),
        ([(0, "100"), (1, "9000!"), (2, "9000"), (3, "100")], [3]),
        ([(0, "100"), (1, "9000"), (2, "9000!")], []),
    ):
        with faults.row(prices):
            assert doubted(*prices) == expected
    faults.show()


def test_prices_of_another_symbol_are_not_compared_with() -> None:
    prices = {PriceKey("BTC", T0): Decimal(60_000), PriceKey("ETH", T0 + MINUTE): Decimal(1)}
    assert find_doubted(prices, prices) == set()


steps = st.lists(st.tuples(st.integers(1, 5400), st.sampled_from(["1", "1.5", "19", "25", "30", "600"])), max_size=12)


@given(steps)
def test_what_is_in_no_doubt_follows_its_like_and_what_is_has_no_next_that_agrees(made: list[tuple[int, str]]) -> None:
    at, prices = T0, {}
    for seconds, price in made:
        at += timedelta(seconds=seconds)
        prices[PriceKey("BTC", at)] = Decimal(price)
    found = find_doubted(prices, prices)
    hour = timedelta(hours=1)
    apart = lambda one, two: max(prices[one], prices[two]) / min(prices[one], prices[two])  # noqa: E731
    for key, following in pairwise(sorted(prices)):
        if key in found:
            assert following.at - key.at > hour or apart(key, following) > 2
    for before, key in pairwise(sorted(prices.keys() - found)):
        agreed = any(0 < (each.at - key.at).total_seconds() <= 3600 and apart(key, each) <= 2 for each in prices)
        assert key.at - before.at > hour or apart(before, key) <= 20 or agreed
