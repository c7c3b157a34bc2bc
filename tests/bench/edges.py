"""How fast edges are extracted and typed, from what traders write in English and Chinese, and how fast they are replayed."""

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from django.utils import timezone

from memory_app.edges.core import MAX_EDGES_PER_CONTENT, extract_edges
from memory_app.edges.models import MemoryEdge
from memory_app.edges.services import replay_edges
from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.core.text import prepare
from minara_site.kernel.guard import core as guard
from tests.bench.figures import Figure
from tests.bench.growth import Hostile, growth_figure, worst_growth
from tests.kernel.guard.crafted import CRAFTED
from tests.kit.shared import corpus

AT_LEAST = 5_000  # memories a second
SENTENCES = (
    "Bought {n} {a} at 61,200 on {c} after the {b} unlock, stop below 58k",
    "Closed my long on {a} for +7.8%, rotated half into {b} and the rest into USDC",
    "User never holds more than 5% in meme coins such as {a} or {b}",
    "Watching {a}/USDT funding; if it turns negative, add to {b} in thirds",
    "{a} stopped out at 3,180, slippage 0.4% on {c}; {b} still open",
    "卖出 {a} 换成 {b}，止损放在 58000 下方，仓位不超过 3%",
    "用户长期持有 {a}，关注 {b} 在 {c} 上的流动性，不要追高",
    "EUR/USD below 1.08 weakens {a}; gold and the S&P 500 held up, 0xdAC17F958D2ee523a2206206994597C13D831ec7 moved",
)
ASSETS = ("BTC", "ETH", "SOL", "$WIF", "比特币", "以太坊", "NVDA", "Bitcoin", "LINK", "DOGE", "狗狗币", "AAPL")
CHAINS = ("arbitrum", "base", "Solana", "polygon")
COUNT, FEW = 20_000, 1_000
REPLAYED, FEW_REPLAYED = 10_000, 500


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Extract from made texts and from the corpus, then from crafted ones of 10 kB and 100 kB; replay what is stored."""
    texts = make_contents(FEW if small else COUNT)
    texts += [row["text"] for row in corpus("benign_finance_memories")] * (len(texts) // 1_000)
    rate = len(texts) / statistics.median(worked(lambda: [extract_edges(text) for text in texts]) for _ in range(3))
    words = len(texts) / statistics.median(worked(lambda: [prepare(text) for text in texts]) for _ in range(3))
    edges = sum(len(extract_edges(text)) for text in texts)
    assert all(len(extract_edges(unit * 100)) <= MAX_EDGES_PER_CONTENT for unit in CRAFTED)
    steepest = worst_growth(extract_edges, map(Hostile, CRAFTED[::20] if small else CRAFTED))
    return [
        Figure(
            name="extraction and typing of edges",
            value=rate,
            unit="memories/s",
            bound=f"at least {AT_LEAST:,}",
            ok=rate >= AT_LEAST,
            reference=f"{edges / len(texts):.1f} edges each; cutting the same texts into words: {words:,.0f} a second",
        ),
        growth_figure("edges of 100 kB against 10 kB, worst of the crafted texts", steepest),
        replay(texts[: FEW_REPLAYED if small else REPLAYED]),
    ]


def make_contents(count: int) -> list[str]:
    """Return memories of ordinary length, one sentence or two."""
    dice = random.Random(11)

    def sentence() -> str:
        first, second = dice.sample(ASSETS, 2)
        return dice.choice(SENTENCES).format(n=dice.randint(1, 90), a=first, b=second, c=dice.choice(CHAINS))

    return [". ".join(sentence() for _ in range(dice.choice((1, 1, 2)))) for _ in range(count)]


def replay(texts: list[str]) -> Figure:
    """Measure a replay that finds nothing to write."""
    now, owner = timezone.now(), User.objects.get(is_default=True)
    rows = [
        Memory(
            owner=owner,
            category="observation",
            content=text,
            content_hash="",
            actor="bench",
            created_at=now,
            updated_at=now,
            rules_version=guard.RULES.version,
        )
        for text in texts
    ]
    for start in range(0, len(rows), 500):
        Memory.objects.bulk_create(rows[start : start + 500])
    begun = time.perf_counter()
    counts = replay_edges(now=timezone.now())
    taken = time.perf_counter() - begun
    assert counts == {"memories": len(rows), "decisions": 0, "added": 0, "removed": 0}
    return Figure(
        name=f"replay of the edges of {len(rows):,} memories",
        value=len(rows) / taken,
        unit="memories/s",
        reference=f"writes nothing; {MemoryEdge.objects.count():,} edges stand",
    )


def worked(act: Callable[[], object]) -> float:
    """Return the seconds of the processor that one call takes."""
    begun = time.process_time()
    act()
    return time.process_time() - begun
