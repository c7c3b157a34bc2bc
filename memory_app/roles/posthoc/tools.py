"""The built-in tools of `refetch_source`: prices and memories, as they stood at the decision where that can be said."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

from memory_app.memories.models import Memory
from memory_app.memories.selectors import newest_accepted
from memory_app.roles.posthoc.sources import EvidenceContext, SourceTool, register_source
from memory_app.search.selectors import search_memories
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.market.core.evidence import EvidenceItem
from minara_site.kernel.market.selectors import find_prices

OLDEST_PRICE = timedelta(hours=96)  # a market rests that long over a weekend with holidays
MAX_MEMORIES = 5


def get_price(context: EvidenceContext, *, symbol: str) -> Iterator[EvidenceItem]:
    """Yield the price at the decision and at the outcome: of each moment the last one known by then.

    None from later: the lesson may be read by whoever decides from the outcome on.
    """
    name = normalise_symbol(symbol)
    if name is None:
        yield EvidenceItem("note", "get_price", f"{symbol} names nothing that has a price.")
        return
    moments = (
        ("at the decision", context.decided_at),
        ("at the outcome", context.outcome_at),
    )
    asked = [at for _label, at in moments]
    quotes = find_prices(
        name,
        moments=asked,
        owner_id=context.owner.pk,
        tolerance=OLDEST_PRICE,
    )
    for (label, _at), quote in zip(moments, quotes, strict=True):
        if quote is None:
            yield EvidenceItem("price", f"{name} {label}", "no price is known")
        else:
            yield EvidenceItem(
                "price",
                f"{name} {label}",
                f"{plain(quote.price)} ({quote.source})",
                quote.at,
            )


def memory_search(context: EvidenceContext, *, query: str) -> Iterator[EvidenceItem]:
    """Yield what a search would have found when the decision was made."""
    found = search_memories(
        owner=context.owner,
        query=query,
        limit=MAX_MEMORIES,
        as_of=context.decided_at,
    )
    for hit in found.hits:
        yield EvidenceItem(
            "memory",
            f"{hit.category}, known at the decision",
            hit.content,
            hit.updated_at,
        )
    if not found.hits:
        yield EvidenceItem("note", "memory_search", f"nothing was known about: {query}")


def memory_read(context: EvidenceContext, *, category: str = "") -> Iterator[EvidenceItem]:
    """Yield the newest memories that stood at the decision as they stand today."""
    rows = Memory.objects.for_owner(context.owner).live().filter(updated_at__lte=context.decided_at)
    if category:
        rows = rows.filter(category=Category(category))
    for row in newest_accepted(rows, MAX_MEMORIES):
        yield EvidenceItem(
            "memory",
            f"{row.category}, known at the decision",
            row.content,
            row.updated_at,
        )


def plain(price: Decimal) -> str:
    """Return a price in digits, without the zeros at its end."""
    return f"{price.normalize():f}"


for each in (
    SourceTool("get_price", ("symbol",), get_price, is_read_only=True),
    SourceTool("memory_search", ("query",), memory_search, is_read_only=True),
    SourceTool("memory_read", ("category",), memory_read, is_read_only=True),
):
    register_source(each)
