"""Made-up memories with the word statistics of real ones: few common words, many rare ones."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from minara_site.access.models import User

COMMON = (
    "btc eth long short stop loss trade user prefers slippage funding rate base arbitrum chart weekly daily risk "
    "position closed opened momentum breakout support resistance volume alert lesson never always when after"
).split()
RARE = [f"{head}{tail}" for head in ("ka", "mo", "ri", "te", "su", "no") for tail in map(str, range(1500))]
EVERYWHERE = "ubiquitous"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
CATEGORIES = ("observation", "lesson", "preference", "trade_outcome", "alert", "reference")


def make_texts(count: int, *, seed: int = 7) -> Iterator[str]:
    """Yield statements of about 14 words."""
    dice = random.Random(seed)
    for _ in range(count):
        words = dice.choices(COMMON, k=10) + dice.choices(RARE, k=3) + [EVERYWHERE]
        dice.shuffle(words)
        yield " ".join(words)


def make_times(count: int) -> Iterator[datetime]:
    """Yield one time a minute."""
    for number in range(count):
        yield BEGIN + timedelta(minutes=number)


def make_owners(count: int) -> list[User]:
    """Create the owners of a benchmark."""
    return User.objects.bulk_create([User(username=f"owner{number}", password="!") for number in range(count)])
