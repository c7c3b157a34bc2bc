"""Search through HTTP with a key, against a bare django-ninja view with the same authentication and the raw query."""

import http.client
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import Pool
from pathlib import Path
from urllib.parse import quote

from django.db import connection
from django.utils import timezone

from memory_app.memories.core import content_hash
from memory_app.memories.models import Memory
from minara_site.access.keys.services import create_key
from minara_site.access.policy import Scope
from minara_site.kernel.guard import core as guard
from tests.bench.figures import Figure
from tests.bench.texts import CATEGORIES, COMMON, RARE, make_owners, make_texts, make_times

CLIENTS = 16
"""So many that each of the two processes gets some: the kernel gives each connection to either."""
PORT = 8799
MIN_SHARE = 0.6


@dataclass(frozen=True)
class Read:
    """A request of the product and that of the bare view with the same query; `{q}` is two words in turn."""

    name: str
    product: str
    bare: str


SEARCH = Read("search", "/v1/memory/search?q={q}", "/bare/search?q={q}")
LIST = Read("list of 50 memories", "/v1/memory?limit=50", "/bare/memory?limit=50")


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Measure the search."""
    return measure(scratch, [SEARCH], small=small)


def measure(scratch: Path, reads: Sequence[Read], *, small: bool) -> list[Figure]:
    """Measure requests per second of product and bare view, in turns, three rounds each."""
    rows, seconds = (5_000, 1) if small else (100_000, 8)
    key, figures = build(rows), []
    with server(scratch):
        for read in reads:
            paths = {"product": read.product, "bare": read.bare}
            for path in paths.values():
                load(path, key, 1)
            rates: dict[str, list[float]] = {name: [] for name in paths}
            for _ in range(3):
                for name, path in paths.items():
                    rates[name].append(load(path, key, seconds))
            product, bare = (sorted(rates[name])[1] for name in ("product", "bare"))
            figures += compare(read, product, bare, rows)
    return figures


def compare(read: Read, product: float, bare: float, rows: int) -> list[Figure]:
    """Return the rate of the product, and its share of the bare view's."""
    name, share = f"{read.name} through HTTP", product / bare
    return [
        Figure(name, product, "req/s", reference=f"bare view {bare:,.0f} req/s, {rows:,} rows"),
        Figure(f"{name}, share of the bare view", share, "x", ">= 0.60", share >= MIN_SHARE, "same run"),
    ]


def build(rows: int) -> str:
    """Fill the database with 100 owners' memories and return a key of one of them."""
    owners = make_owners(100)
    pairs = zip(make_texts(rows), make_times(rows), strict=True)
    number = 0
    while chunk := list(islice(pairs, 2_000)):
        batch = []
        for text, at in chunk:
            category = CATEGORIES[number % len(CATEGORIES)]
            batch.append(
                Memory(
                    owner=owners[number % 100],
                    category=category,
                    content=text,
                    source="agent_recorded",
                    actor="bench",
                    content_hash=content_hash(category, text),
                    created_at=at,
                    updated_at=at,
                    rules_version=guard.RULES.version,
                )
            )
            number += 1
        Memory.objects.bulk_create(batch)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # as the server does within a minute, here before the first round
    return create_key(user=owners[0], scopes=[Scope.MEMORY_READ], now=timezone.now(), actor="bench").text


@contextmanager
def server(scratch: Path) -> Iterator[None]:
    """Run the product under its own web server with two workers."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.bench.http_settings",
        "MINARA_DATA_DIR": str(scratch),
        "MINARA_LIMIT_READS_PER_MINUTE": "1000000",  # counted, but never reached
    }
    command = [sys.executable, "-m", "minara_site.kernel.processes.web", "127.0.0.1", str(PORT), "2"]
    process = subprocess.Popen(command, env=environment)
    try:
        wait_until_ready()
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_until_ready() -> None:
    """Ask until the server answers, at most 30 seconds."""
    for _ in range(300):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=1)
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


def load(path: str, key: str, seconds: float) -> float:
    """Send requests that long from several clients that keep their connections; return requests per second."""
    with Pool(CLIENTS) as pool:
        rates, found = zip(
            *pool.starmap(client, [(path, key, seconds, seed) for seed in range(CLIENTS)]),
            strict=True,
        )
    if not any(found):
        raise RuntimeError(f"{path} answered no rows")
    return sum(rates)


def client(path: str, key: str, seconds: float, seed: int) -> tuple[float, int]:
    """Send requests one after the other; return how many a second were answered, and how many of them with rows."""
    dice = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    found, answered, begun = 0, 0, time.perf_counter()
    while time.perf_counter() < begun + seconds:
        query = quote(f"{dice.choice(COMMON)} {dice.choice(RARE)}")
        connection.request("GET", path.format(q=query), headers={"Authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}")
        found += b'"content"' in text
        answered += 1
    return answered / (time.perf_counter() - begun), found
