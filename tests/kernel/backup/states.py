"""What an instance holds, by table and file, and what the tests do in processes of an installation."""

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.backup.archive import open_backup
from minara_site.kernel.backup.services import restore_backup
from minara_site.kernel.backup.swap import finish_restore
from minara_site.kernel.instance.models import InstanceMeta
from tests.kit.site import Site

FILES = ("secret_key", "workspace/default/USER.md")
SWAPPING = 5
OWN_ROWS = "'backup.made', 'backup.restored'"  # of the act itself


def rows_of(site: Site) -> dict[str, str]:
    """Return a hash over the rows of each table."""
    found = {}
    for name, query in readers(site):
        tables = query(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
            if site.url
            else "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'sqlite_sequence'"
        )
        for (table,) in tables:
            where = f" WHERE tool_call NOT IN ({OWN_ROWS})" if table == "audit_log" else ""
            rows = query(f'SELECT {"t::text" if site.url else "*"} FROM "{table}" t{where}')
            found[f"{name}.{table}"] = hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
    return found


def readers(site: Site) -> Iterator[tuple[str, Any]]:
    """Yield what reads each database, past Django."""
    if site.url:
        with psycopg.connect(site.url, autocommit=True) as server:
            yield "main", lambda sql: server.execute(sql).fetchall()
        return
    for name in ("minara.db", "queue.db"):
        with closing(sqlite3.connect(site.folder / name)) as file:
            yield name, lambda sql, file=file: file.execute(sql).fetchall()


def files_of(folder: Path) -> dict[str, bytes]:
    """Return what the secret key and the workspaces hold."""
    paths = [folder / "secret_key", *sorted((folder / "workspace").rglob("*"))]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


def write_pairs(writer: str, stop: str) -> int:
    """Append pairs of numbered rows, each pair in one transaction, until the file is there; return how many rows."""
    number = 0
    while not Path(stop).exists():
        AuditEntry.objects.bulk_create(
            AuditEntry(at=timezone.now(), actor="test", tool_call=writer, details={"number": number + half})
            for half in (0, 1)
        )
        number += 2
    return number


def fill(rows: int) -> None:
    """Make the database larger than one step of the copy."""
    for _each in range(rows // 1000):
        padded = (
            AuditEntry(
                at=timezone.now(),
                actor="x" * 80,
                tool_call="pad",
                reasoning="y" * 1800,
            )
            for _row in range(1000)
        )
        AuditEntry.objects.bulk_create(padded)


def numbers_of(site: Site) -> dict[str, list[int]]:
    """Return the numbers that each writer's rows hold, in the order of writing."""
    found = defaultdict(list)
    for name, details in site.query("SELECT tool_call, details FROM audit_log WHERE actor = 'test' ORDER BY id"):
        found[name].append((details if isinstance(details, dict) else json.loads(details))["number"])
    return dict(found)


def kill_at(event: str, number: int, act: Callable[[], object]) -> int:
    """Do it in a process that is killed at its so-many-th event of this kind; return its exit status."""
    connections.close_all()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    seen = 0

    def kill(name: str, _arguments: object) -> None:
        nonlocal seen
        seen += name == event
        if name == event and seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.addaudithook(kill)
        act()
    except BaseException:  # noqa: BLE001 - nothing of this process may return into the test
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def kill_backups(path: str) -> str:
    """Kill backups at each sort of change; return how each ended, and what it leaves in the folder."""
    left: list[list[Any]] = []
    for event in ("os.mkdir", "sqlite3.connect", "os.remove", "os.rename"):
        status = kill_at(event, 1, lambda: call_command("backup", path))
        left.append([status, *sorted(each.name for each in Path(path).parent.iterdir())])
    return json.dumps(left)


def kill_restores(path: str) -> str:
    """Kill a restore at each name that it changes; return the states after the next start.

    A letter each for the database, the secret key and the workspace: o is as before, n as in the backup.
    """
    data, usual, found = Path(settings.DATA_DIR), Path(f"{settings.DATA_DIR}-usual"), []
    InstanceMeta.objects.create(key="state", value="o")
    connections.close_all()
    for name in FILES:
        (data / name).write_text("o")
    shutil.copytree(data, usual)
    for number in range(1, 30):
        status = kill_at("os.rename", number, lambda: restore(path))
        if number == SWAPPING:  # as it is, for the test
            shutil.copytree(data, f"{data}-swapping")
        finish_restore(data)
        found.append(InstanceMeta.objects.get(key="state").value + "".join((data / name).read_text() for name in FILES))
        connections.close_all()
        kept = [(each / "secret_key").read_text() for each in data.glob("before-restore-*")]
        assert kept == (["o"] if found[-1] == "nnn" else []), number
        if status == 0:
            break
        shutil.rmtree(data)
        shutil.copytree(usual, data)
    return json.dumps(found)


def restore(path: str) -> None:
    """Restore without a question."""
    with open_backup(Path(path)) as backup:
        restore_backup(backup, now=timezone.now(), replaces=True)
