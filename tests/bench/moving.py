"""How fast an instance moves to PostgreSQL, comparison and search index included, beside a bare COPY of the same rows.

Needs a server, at MINARA_BENCH_POSTGRES or on this machine; without one it says so and measures nothing.
"""

import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from django.conf import settings
from django.db import connections

from minara_site.console.moving.services import MOVE_TABLE, make_tables, move_instance, note
from minara_site.console.moving.source import fingerprint
from minara_site.console.moving.tables import Table, list_tables
from tests.bench.figures import Figure, timed
from tests.kit.large import make_large

SERVER = os.environ.get("MINARA_BENCH_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres")
MANY = {"people": 20, "memories": 60_000, "cases": 60_000, "methods": 10_000}
FEW = {"people": 2, "memories": 200, "cases": 200, "methods": 50}
AT_LEAST = 0.25
"""Of the speed of a bare COPY, after the tables are made: that takes seconds, however many rows there are."""


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Move a large instance into tables that are there, then copy what came into a twin of them."""
    names = [f"minara_bench_{uuid4().hex}" for _each in range(2)]
    try:
        server = psycopg.connect(SERVER, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError:
        return [Figure("move to PostgreSQL", 0.0, "rows/s", reference=f"not measured: no PostgreSQL at {SERVER}")]
    with server:
        try:
            return [measure(server, *names, FEW if small else MANY)]
        finally:
            for name in names:
                server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def measure(server: Any, moved: str, twin: str, sizes: dict[str, int]) -> Figure:
    """Return the rows a second of the move."""
    make_large(**sizes)
    connections.close_all()
    files = {alias: Path(str(database["NAME"])) for alias, database in settings.DATABASES.items()}
    tables, address = list_tables(), SERVER.rpartition("/")[0]
    server.execute(f"CREATE DATABASE {moved}")
    with psycopg.connect(f"{address}/{moved}", autocommit=True) as target:
        make_tables(target, f"{address}/{moved}", tables)
    server.execute(f"CREATE DATABASE {twin} TEMPLATE {moved}")
    with psycopg.connect(f"{address}/{moved}", autocommit=True) as target:
        target.execute(f"CREATE TABLE {MOVE_TABLE} (name text PRIMARY KEY, rows bigint, sha256 text)")
        note(target, "(source)", (0, fingerprint(files)))
        note(target, "(made)", (0, ""))
    held: dict[str, tuple[int, str]] = {}
    taken = timed(lambda: held.update(move_instance(files, f"{address}/{moved}", report=lambda *_progress: None)))
    rows = sum(count for count, _sha256 in held.values())
    with psycopg.connect(f"{address}/{moved}") as source, psycopg.connect(f"{address}/{twin}") as target:
        bare = sum(copy_bare(source, target, table) for table in tables)
    share = bare / taken
    return Figure(
        name=f"move of {rows:,} rows to PostgreSQL, compared and indexed",
        value=share,
        unit="of bare",
        bound=f"at least {AT_LEAST}",
        ok=None if sizes is FEW else share >= AT_LEAST,
        reference=f"{rows / taken:,.0f} rows/s; a bare COPY of the same rows: {rows / bare:,.0f} rows/s",
    )


def copy_bare(source: Any, target: Any, table: Table) -> float:
    """Return the seconds that COPY takes for the rows of a table, which are read before."""
    with source.cursor() as cursor, cursor.copy(f'COPY "{table.name}" ({table.target_columns}) TO STDOUT') as copy:
        lines = b"".join(copy)

    def write() -> None:
        with target.cursor() as cursor, cursor.copy(f'COPY "{table.name}" ({table.target_columns}) FROM STDIN') as copy:
            copy.write(lines)
        target.commit()

    return timed(write)
