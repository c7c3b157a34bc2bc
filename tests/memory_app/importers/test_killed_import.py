"""An import that dies midway is finished by running it again."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from memory_app.memories.models import Memory
from memory_app.search.index import index_problems
from minara_site.kernel.audit_log.models import AuditEntry
from tests.kit.fixtures import make_user

LINES = 6_000
PROJECT = Path(__file__).resolve().parents[3]


def environment_of_this_database(folder: Path) -> dict[str, str]:
    """Return the environment in which another process opens the test database."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "minara_site.settings", "MINARA_DATA_DIR": str(folder)}
    if connection.vendor == "sqlite":
        (folder / "minara.db").symlink_to(connection.settings_dict["NAME"])
    else:
        parts = connection.settings_dict
        place = f"{parts['USER']}:{parts['PASSWORD']}@{parts['HOST']}:{parts['PORT'] or 5432}/{parts['NAME']}"
        environment["DATABASE_URL"] = f"postgres://{place}"
    return environment


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_a_killed_import_goes_on_where_it_stood(tmp_path: Path) -> None:
    owner: Any = make_user("ana")
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join(json.dumps({"content": f"memory number {number}"}) for number in range(LINES)))
    command = [sys.executable, "manage.py", "import", str(path), "--from", "jsonl", "--user", "ana", "--apply"]
    with subprocess.Popen(
        command, cwd=PROJECT, env=environment_of_this_database(tmp_path), stdout=subprocess.DEVNULL
    ) as child:
        wait_until(lambda: child.poll() is not None or Memory.objects.count() >= 1_000)
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL

    standing = Memory.objects.for_owner(owner).count()
    assert 1_000 <= standing < LINES
    assert standing % 500 == 0
    assert sum(entry.details["count"] for entry in AuditEntry.objects.filter(tool_call="memory_import")) == standing
    assert index_problems() == []

    out = StringIO()
    call_command("import", str(path), "--from", "jsonl", "--user", "ana", "--apply", "--verbosity", "0", stdout=out)
    assert out.getvalue().strip() == f"Stored {LINES - standing} new for ana; {standing} duplicate, 0 rejected."
    assert Memory.objects.for_owner(owner).values("content_hash").distinct().count() == LINES
    assert Memory.objects.for_owner(owner).count() == LINES
