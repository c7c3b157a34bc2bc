"""Run the benchmarks: `python -m tests.bench all`, or one by name; `--small` only shows that they run.

Each benchmark runs in a process and a data folder of its own, whose tables are made once. Prints one table and writes
bench.json.
"""

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.lanes import SERVER

NAMES = (
    "search",
    "bulk",
    "guard",
    "growth",
    "edges",
    "write",
    "facts",
    "compiled",
    "prompt",
    "pages",
    "http",
    "postgresql",
    "plans",
    "slow",
    "embeddings",
    "hybrid",
    "market",
    "roles",
    "learning",
    "audit",
    "suggestions",
    "bundle",
    "refusals",
    "jobs",
    "activity",
    "ledger",
    "backup",
    "moving",
    "changes",
    "changes_postgresql",
)
ON_POSTGRESQL = {"plans", "postgresql", "changes_postgresql"}
RECALL = "recall"
TABLES = "tables"


def run_one(name: str, scratch: Path, *, small: bool) -> None:
    """Measure one benchmark in this process and leave its figures in the scratch folder; or only make the tables."""
    os.environ["MINARA_DATA_DIR"] = str(scratch)
    if name not in ON_POSTGRESQL:
        os.environ.pop("DATABASE_URL", None)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "minara_site.settings")
    os.environ["MINARA_LOG_LEVEL"] = "ERROR"
    import django

    django.setup()
    if name == TABLES or name in ON_POSTGRESQL:
        from minara_site.kernel.processes.start import migrate_databases

        migrate_databases()
    if name == TABLES:
        return
    figures = importlib.import_module(f"tests.bench.{name}").run(scratch, small=small)
    (scratch / "figures.json").write_text(json.dumps([figure.as_json() for figure in figures]))


def run_all(names: tuple[str, ...], *, small: bool) -> list[dict[str, object]]:
    """Run each benchmark in its own process and collect the figures."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="minara-bench-tables-") as tables:
        run_inside(tables, TABLES)
        for name in names:
            with tempfile.TemporaryDirectory(prefix=f"minara-bench-{name}-") as folder:
                shutil.copytree(tables, folder, dirs_exist_ok=True)
                with database_for(name):
                    run_inside(folder, name, *(["--small"] if small else []))
                found = json.loads((Path(folder) / "figures.json").read_text())
            figures += [{"benchmark": name, **figure} for figure in found]
    return figures


@contextmanager
def database_for(name: str) -> Iterator[None]:
    """Set DATABASE_URL to a new database during a benchmark that is on PostgreSQL."""
    if name not in ON_POSTGRESQL:
        yield
        return
    database = f"minara_bench_{os.getpid()}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {database}")
        os.environ["DATABASE_URL"] = f"{SERVER.rpartition(chr(47))[0]}/{database}"
        try:
            yield
        finally:
            del os.environ["DATABASE_URL"]
            server.execute(f"DROP DATABASE {database} WITH (FORCE)")


def run_inside(folder: str, name: str, *flags: str) -> None:
    """Run one benchmark in a process of its own on this folder."""
    subprocess.run([sys.executable, "-m", "tests.bench", "--inside", folder, name, *flags], check=True)


def print_table(figures: list[dict[str, object]]) -> None:
    """Print one line a figure."""
    for figure in figures:
        mark = {True: "ok  ", False: "MISS", None: "    "}[figure["ok"]]  # type: ignore[index]
        print(
            f"{mark} {figure['benchmark']:<7} {figure['name']:<58} {figure['value']:>12,.3f} {figure['unit']:<10}"
            f" {figure['bound']}  [{figure['reference']}]"
        )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=("all", *NAMES, RECALL, TABLES))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--inside", type=Path)
    options = parser.parse_args()
    if options.inside:
        run_one(options.name, options.inside, small=options.small)
        return
    from tests.bench.figures import reference_loop

    figures = run_all(NAMES if options.name == "all" else (options.name,), small=options.small)
    loop = reference_loop()
    print_table(figures)
    print(f"reference loop: {loop:.1f} ms for a million multiplications and additions")
    target = Path("bench-recall.json" if options.name == RECALL else "bench.json")
    target.write_text(
        json.dumps(
            {"reference_loop_ms": loop, "small": options.small, "figures": figures},
            indent=1,
        )
    )
    if not options.small and any(figure["ok"] is False for figure in figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
