"""How fast an import goes in: file, judgement, row, search index and audit, beside bare inserts of the same rows."""

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from memory_app.importers.adapters import Format, open_bundle
from memory_app.importers.services import Judgement, run_import
from memory_app.index.documents import index_problems
from memory_app.memories.models import Memory
from memory_app.memories.services import SLICE
from minara_site.access.models import User
from tests.bench.figures import Figure
from tests.bench.texts import make_texts

LINES, FEW_LINES = 30_000, 1_500
AT_LEAST = 1_500  # memories a second, guard and all indexes included


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Import a file of JSON lines through the real service; measure the reference around it."""
    count = FEW_LINES if small else LINES
    path = scratch / "export.jsonl"
    write_lines(path, count)
    owner = User.objects.get(is_default=True)

    judged, import_seconds = bring(path, owner)
    assert Memory.objects.for_owner(owner).count() == len(judged) == count
    assert index_problems() == []
    again, again_seconds = bring(path, owner)
    assert {each.verdict for each in again} == {"duplicate"}
    raw_seconds = insert_raw(scratch)
    rate, raw = count / import_seconds, count / raw_seconds
    return [
        Figure(
            name=f"import of {count:,} memories from JSON lines",
            value=rate,
            unit="memories/s",
            bound=f"at least {AT_LEAST:,}",
            ok=rate >= AT_LEAST,
            reference=f"executemany into the same bare table: {raw:,.0f} rows/s, {raw / rate:.1f} times as many",
        ),
        Figure(
            name="the same import again: every line a duplicate",
            value=count / again_seconds,
            unit="lines/s",
            reference="stores nothing",
        ),
    ]


def bring(path: Path, owner: User) -> tuple[list[Judgement], float]:
    """Import a file as the command does; return the verdicts and the seconds it took."""
    begun = time.perf_counter()
    bundle = open_bundle(path, Format.JSONL)
    judged = list(
        run_import(
            owner=owner,
            bundle=bundle,
            apply=True,
            now=timezone.now(),
            actor="command:import",
        )
    )
    return judged, time.perf_counter() - begun


def write_lines(path: Path, count: int) -> None:
    """Write memories of ordinary length, no two alike."""
    with path.open("w") as stream:
        for number, text in enumerate(make_texts(count)):
            stream.write(json.dumps({"content": f"{text} #{number}", "category": "observation"}) + "\n")


def insert_raw(scratch: Path) -> float:
    """Return the seconds that SQLite alone takes for the rows that the import stored, in the same slices."""
    source = sqlite3.connect(settings.DATABASES["default"]["NAME"])
    table = source.execute("SELECT sql FROM sqlite_master WHERE name = 'memories'").fetchone()[0]
    rows: list[Any] = source.execute("SELECT * FROM memories ORDER BY id").fetchall()
    source.close()
    target = sqlite3.connect(scratch / "raw.db", isolation_level=None)
    target.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {table}")
    places = ", ".join("?" * len(rows[0]))
    begun = time.perf_counter()
    for start in range(0, len(rows), SLICE):
        target.execute("BEGIN IMMEDIATE")
        target.executemany(f"INSERT INTO memories VALUES ({places})", rows[start : start + SLICE])
        target.execute("COMMIT")
    seconds = time.perf_counter() - begun
    target.close()
    return seconds
