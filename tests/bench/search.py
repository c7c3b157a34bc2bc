"""Search in process against the raw SQLite query; the worth of the owner token; odd queries on many rows."""

import random
import sqlite3
import statistics
from collections.abc import Iterable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

from django.conf import settings

from memory_app.index.adapters.sqlite import match_expression
from memory_app.index.core.document import memory_document
from memory_app.index.core.parser import MAX_QUERY_CHARS, parse_query
from memory_app.memories.models import Memory
from memory_app.search.selectors import search_memories
from minara_site.access.models import User
from minara_site.kernel.errors import Invalid
from tests.bench.figures import Figure, percentile, timed
from tests.bench.http_query import SQLITE
from tests.bench.texts import BEGIN, CATEGORIES, COMMON, EVERYWHERE, RARE, make_owners, make_texts
from tests.kit.shared import SHARED, corpus

QUERIES = 300
MAX_TIMES_RAW = 2
MIN_TIMES_FASTER = 25
MAX_ODD_SECONDS = 0.1
WITHOUT_TOKEN = """
    SELECT d.object_id FROM search_index JOIN search_document d ON d.id = search_index.rowid
    WHERE search_index MATCH ? AND d.owner_id = ? ORDER BY rank LIMIT 10
"""


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure at 100 000 rows of 100 owners, then at a million more of 1 000 owners."""
    owners = make_owners(100)
    fill(owners, 5_000 if small else 100_000)
    figures = [*against_raw(owners), *odd_queries(owners[0])]
    many = [User(username=f"many{number}", password="!") for number in range(20 if small else 1_000)]
    fill(User.objects.bulk_create(many), 20_000 if small else 1_000_000)
    return [*figures, owner_token(many, small=small)]


def fill(owners: list[User], rows: int) -> None:
    """Insert memories and documents in bulk, the owners in turn."""
    base = raw_connection()
    first = (Memory.objects.order_by("-pk").values_list("pk", flat=True).first() or 0) + 1
    made = make_rows([owner.pk for owner in owners], make_texts(rows, seed=first), first)
    memory = "INSERT INTO memories (id, owner_id, category, content, source, fact_type, tickers, actor, origin, "
    memory += "content_hash, version, is_demo, created_at, updated_at) "
    memory += "VALUES (?, ?, ?, ?, 'agent_recorded', '', '[]', 'bench', '', '', 1, 0, ?, ?)"
    document = (
        "INSERT INTO search_document (kind, object_id, owner_id, owner, body, category) VALUES (?, ?, ?, ?, ?, ?)"
    )
    while chunk := list(islice(made, 20_000)):
        base.execute("BEGIN IMMEDIATE")
        base.executemany(memory, [row for row, _document in chunk])
        base.executemany(document, [each for _row, each in chunk])
        base.execute("COMMIT")
    base.close()


def make_rows(
    owner_ids: list[int],
    texts: Iterable[str],
    first: int,
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Yield the columns of a memory and of its document."""
    at = BEGIN.strftime("%Y-%m-%d %H:%M:%S")
    for number, text in zip(count(first), texts, strict=False):
        owner_id, category = owner_ids[number % len(owner_ids)], CATEGORIES[number % len(CATEGORIES)]
        d = memory_document(number, owner_id, text, category)
        columns = (d.kind, d.object_id, d.owner_id, d.owner_token, d.body, d.category)
        yield (number, owner_id, category, text, at, at), columns


def raw_connection() -> sqlite3.Connection:
    """Open the product's database without Django, with the product's settings."""
    database = settings.DATABASES["default"]
    base = sqlite3.connect(database["NAME"], isolation_level=None)
    base.executescript(database["OPTIONS"]["init_command"])
    return base


def make_queries(dice: random.Random) -> Iterator[tuple[str, str]]:
    """Yield kinds of queries in turn: kind and text."""
    while True:
        common, rare = dice.sample(COMMON, 6), dice.sample(RARE, 2)
        yield "one word", dice.choice((common[0], rare[0]))
        yield "two words", f"{common[0]} {rare[0]}"
        yield "question", f"when did the {common[0]} {common[1]} {rare[0]} {common[2]} what {rare[1]}"
        yield "narrowed", f"{common[0]} AND {common[1]} category:{dice.choice(CATEGORIES)}"
        yield "phrase", f'"{common[0]} {common[1]}"'
        yield "prefix", f"{common[0][:3]}*"


def against_raw(owners: list[User]) -> list[Figure]:
    """Compare top ten of the product with the same MATCH and owner filter in plain sqlite3, in turns."""
    dice, base = random.Random(11), raw_connection()
    ours: dict[str, list[float]] = {}
    raws: dict[str, list[float]] = {}
    for kind, query in islice(make_queries(dice), 6 * QUERIES):
        owner, parsed = dice.choice(owners), parse_query(query)
        match = match_expression(owner.pk, parsed.node, parsed.filters.categories)  # type: ignore[arg-type]
        pairs = [one_round(base, owner, query, match) for _ in range(3)]
        for samples, seconds in zip(
            (ours, raws),
            map(statistics.median, zip(*pairs, strict=True)),
            strict=True,
        ):
            samples.setdefault(kind, []).append(seconds)
            samples.setdefault("all kinds", []).append(seconds)
    return [compare(kind, ours[kind], raws[kind], bound=kind == "all kinds") for kind in ours]


def one_round(base: sqlite3.Connection, owner: User, query: str, match: str) -> tuple[float, float]:
    """Return the seconds of the product's search and of the raw query."""
    product = timed(lambda: search_memories(owner=owner, query=query))
    return product, timed(lambda: base.execute(SQLITE, (match, owner.pk)).fetchall())


def compare(kind: str, ours: list[float], raws: list[float], *, bound: bool) -> Figure:
    """Return p95 of the product in parts of the raw p95."""
    p95, raw = percentile(ours, 0.95), percentile(raws, 0.95)
    p50, raw50 = percentile(ours, 0.5), percentile(raws, 0.5)
    seen = f"p95 {p95 * 1000:.2f} ms, raw {raw * 1000:.2f} ms; p50 {p50 * 1000:.2f} ms, raw {raw50 * 1000:.2f} ms"
    limit = f"<= {MAX_TIMES_RAW}" if bound else ""
    ok = p95 <= MAX_TIMES_RAW * raw if bound else None
    return Figure(f"search top 10 in process, {kind}: p95 / raw p95", p95 / raw, "x", limit, ok, seen)


def odd_queries(owner: User) -> list[Figure]:
    """Run every query of the hostile corpus."""
    if not SHARED.exists():
        return []
    seconds, refused = [], 0
    for row in corpus("fts5_queries"):
        query = row["q"][:MAX_QUERY_CHARS]
        try:
            seconds.append(timed(lambda query=query: search_memories(owner=owner, query=query, limit=200)))
        except Invalid:
            refused += 1
    p99 = percentile(seconds, 0.99)
    seen = f"{len(seconds)} queries, {refused} refused as no text, slowest {max(seconds) * 1000:.1f} ms"
    return [Figure("hostile queries, p99", p99 * 1000, "ms", "< 100", p99 < MAX_ODD_SECONDS, seen)]


def owner_token(owners: list[User], *, small: bool) -> Figure:
    """Search a word that stands in every row, as one owner, against the same MATCH without the owner token."""
    dice, base = random.Random(13), raw_connection()
    match = f'body : "{EVERYWHERE}"'
    search_memories(owner=owners[0], query=EVERYWHERE)
    product = [timed(lambda: search_memories(owner=dice.choice(owners), query=EVERYWHERE)) for _ in range(15)]
    without = [timed(lambda: base.execute(WITHOUT_TOKEN, (match, owners[0].pk)).fetchall()) for _ in range(3)]
    ours, raw = statistics.median(product), statistics.median(without)
    seen = f"{ours * 1000:.1f} ms against {raw * 1000:.0f} ms without the token; {Memory.objects.count():,} rows"
    ok = None if small else raw >= MIN_TIMES_FASTER * ours
    return Figure("a word of every row, one owner: times faster", raw / ours, "x", f">= {MIN_TIMES_FASTER}", ok, seen)
