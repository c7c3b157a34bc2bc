"""Three months of one owner: what changed and what did not, by a list that says what must be found.

The texts are generated from a seed, so that places, firms and figures differ from run to run of the seeds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from minara_site.kernel.core.vocabulary import Category

CITIES = ("Berlin", "Madrid", "Tokyo", "Toronto", "Zurich", "Lisbon")
PLACES = ("柏林", "东京", "上海", "伦敦", "新加坡", "巴黎")
VENUES = ("Binance", "Kraken", "Coinbase", "Bybit")
STOCKS = ("NVDA", "AMD", "TSLA", "MSFT", "AAPL")
COINS = ("SOL", "ADA", "DOT", "AVAX")
CURRENCIES = ("EUR", "USD", "CHF", "JPY")


@dataclass(frozen=True)
class Change:
    """Two texts, the later of which took the place of the earlier, or stands beside it."""

    category: Category
    earlier: str
    later: str
    is_conflict: bool = True


@dataclass(frozen=True)
class Rule:
    """A limit, what it forbids and what it allows."""

    limit: str
    against: str
    allowed: str


def changes(seed: int) -> Iterator[Change]:
    """Generate what changed, and what may stand beside each other."""
    draw = Random(seed)
    (town, city), (place, ort) = draw.sample(CITIES, 2), draw.sample(PLACES, 2)
    (one, other), (money, cash) = draw.sample(VENUES, 2), draw.sample(CURRENCIES, 2)
    (firm, maker, rival), (coin, token) = draw.sample(STOCKS, 3), draw.sample(COINS, 2)
    low, few = draw.randint(20, 40), draw.randint(2, 6)
    fact, seen, wish = Category.FACT, Category.OBSERVATION, Category.PREFERENCE
    yield Change(fact, f"User lives in {town}", f"User moved to {city}")
    yield Change(seen, f"我姐姐住在{place}", f"我姐姐搬到了{ort}")
    yield Change(seen, f"User's main exchange is {one}", f"{other} is the user's main exchange now")
    yield Change(fact, f"Reports everything in {money}", f"Base currency is {cash}")
    yield Change(seen, f"{firm} Q3 revenue guidance is {low}B", f"{firm} guides Q3 revenue to ${low + 4} billion")
    yield Change(seen, "Fed policy rate is 5.00%", "The policy rate of the Fed is 5.25 %")
    yield Change(seen, f"{maker} reports earnings on October 22", f"{maker} earnings are on October 29")
    yield Change(seen, f"持有{coin} {few}00枚", f"{coin}已清仓")
    yield Change(wish, f"Max position size is {few}%", f"Position size: at most {few + 4} %")
    yield Change(seen, f"User has {few} children", f"The user has {few + 1} kids")
    yield Change(seen, f"跑着{few}个机器人", f"目前共运行{few + 2}个机器人")
    yield Change(fact, f"Never holds {token} overnight", f"Holds {token} overnight")
    for earlier, later in (
        (f"Uses {one} for stocks", f"Uses {other} for bonds"),
        (f"{rival} Q3 revenue guidance is {low}B", f"{rival} Q4 revenue guidance is {low + 5}B"),
        (f"Bought {few} {token} at 120", f"Bought {few + 3} {token} at 140"),
        ("ECB policy rate is 2.00%", "BOJ policy rate is 0.50%"),
        (f"My brother works in {town}", f"My cousin works in {city}"),
        ("美联储2025年利率是4.5%", "美联储2026年利率是3.5%"),
        (f"Stop for {firm} is at 110", f"Target for {firm} is 160"),
        (f"note {few} about ETH staking", f"note {few + 1} about ETH staking"),
    ):
        yield Change(seen, earlier, later, is_conflict=False)


def rules(seed: int) -> Iterator[Rule]:
    """Generate the rules that were set."""
    bound = Random(seed).randint(2, 4)
    yield Rule(f"Never more than {bound}x leverage", f"Wants leverage of {bound + 6}x", "Uses leverage of 1.5x")
    yield Rule("绝不碰期权", "想买入看涨期权", "想买入国债")
    yield Rule(
        f"Keep at least {bound * 10}% in cash", f"Wants to keep {bound}% in cash", f"Keeps {bound * 15}% in cash"
    )
