"""Databases with the product's tables: migrated once for all processes, until the product or a library changes."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.db import connections

from tests.kit.site import APPS, ROOT, Site, server_query

FOLDER = ROOT / "build/test-databases"
KEPT = 4
FILES = {"default": "minara.db", "queue": "queue.db"}


@cache
def template() -> Site:
    """Return the installation whose databases are copied; whoever comes first makes it, the others wait."""
    digest = hashlib.sha256(settings.MINARA.database_url.encode())
    modules = sorted(path for name in APPS for path in (ROOT / name).rglob("*.py"))
    for path in (*modules, ROOT / "requirements/base.txt"):
        digest.update(str(path).encode() + path.read_bytes())  # the path too: a server serves other checkouts
    name = f"{kind()}-{digest.hexdigest()[:16]}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        site = Site(FOLDER / name, database=f"minara_{name.replace('-', '_')}")
        if not (site.folder / "made").exists() or (site.url and not is_there(site.database)):
            make(site)
        os.utime(site.folder)
    return site


@cache
def sqlite_template() -> Path:
    """Return the folder of SQLite files with all tables, whatever the database of this run is."""
    code = "import django; django.setup(); from tests.kit.databases import template; print(template().folder)"
    own = {"DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "tests.settings"}
    made = subprocess.check_output(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **own},
        text=True,
    )
    return Path(made.strip())


def kind() -> str:
    """Return which databases are meant; a server that is made for vectors alone goes with its run."""
    if "MINARA_TEST_VECTORS" in os.environ:
        return "vectors"
    return "postgresql" if settings.MINARA.database_url else "sqlite"


def make(site: Site) -> None:
    """Create the tables, and remove the databases of earlier sources, but for the newest: another run may use them."""
    made = sorted(
        FOLDER.glob(f"{site.folder.name.partition('-')[0]}-*"),
        key=lambda path: path.stat().st_mtime,
    )
    for old in made[:-KEPT]:
        shutil.rmtree(old)
        if site.url:
            server_query(f"DROP DATABASE IF EXISTS minara_{old.name.replace('-', '_')}")
    site.folder.mkdir(exist_ok=True)
    if site.url:
        server_query(f"DROP DATABASE IF EXISTS {site.database}")
        server_query(f"CREATE DATABASE {site.database}")
    for alias in connections:
        code, output = site.run("migrate", "--database", alias, "-v0")
        assert code == 0, output
    (site.folder / "made").touch()


def is_there(database: str) -> bool:
    """Say whether the server has a database of this name."""
    return bool(server_query(f"SELECT 1 FROM pg_database WHERE datname = '{database}'"))


def copy_databases(name: str) -> dict[str, str]:
    """Return, by alias, the names of new databases with all tables and nothing but what the migrations wrote."""
    source = template()
    if source.url:
        database = f"minara_test_{name}_{os.getpid()}_{uuid4().hex[:8]}"
        server_query(f"CREATE DATABASE {database} TEMPLATE {source.database}")
        return {"default": database}
    names = {alias: Path(settings.DATA_DIR, f"{name}-{alias}.db") for alias in connections}
    for alias, path in names.items():
        shutil.copyfile(source.folder / FILES[alias], path)
    return {alias: str(path) for alias, path in names.items()}


def drop_databases(names: dict[str, str]) -> None:
    """Remove what `copy_databases` made."""
    for name in names.values():
        if settings.MINARA.database_url:
            server_query(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        else:
            Path(name).unlink(missing_ok=True)


def use_databases(names: dict[str, str]) -> dict[str, str]:
    """Let every connection go to these databases; return the names that were used before."""
    before = {alias: str(connections.settings[alias]["NAME"]) for alias in names}
    for alias, name in names.items():
        connections[alias].close()
        connections.settings[alias]["NAME"] = name
    return before


@contextmanager
def using(names: dict[str, str]) -> Iterator[None]:
    """Use other databases for a while."""
    before = use_databases(names)
    try:
        yield
    finally:
        use_databases(before)
