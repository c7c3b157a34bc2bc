"""An import that dies midway is finished by running it again."""

import json
import os
import signal
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections

from memory_app.importers import services
from memory_app.index.documents import index_problems
from memory_app.memories.models import Memory
from minara_site.kernel.audit_log.models import AuditEntry
from tests.kit.fixtures import make_user

LINES, SLICE = 1_800, 500


def bring(path: Path) -> str:
    """Run the command and return its last words."""
    out = StringIO()
    command = ["import", str(path), "--from", "jsonl", "--user", "ana", "--apply", "--verbosity", "0"]
    call_command(*command, stdout=out)
    return out.getvalue().strip()


def die_in_the_third_slice(path: Path) -> None:
    """Bring the file in, and end as a power cut does when the third slice is written and not yet committed."""
    store, slices = services.store_memories, []

    def store_and_die(rows: Any, **facts: Any) -> None:
        store(rows, **facts)
        slices.append(len(rows))
        if len(slices) == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    services.store_memories = store_and_die
    bring(path)


@pytest.mark.database
@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_a_killed_import_goes_on_where_it_stood(tmp_path: Path) -> None:
    owner: Any = make_user("ana")
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join(json.dumps({"content": f"memory number {number}"}) for number in range(LINES)))
    connections.close_all()
    killed = get_context("fork").Process(target=die_in_the_third_slice, args=(path,))
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL

    left = Memory.objects.for_owner(owner).count()
    assert left == 2 * SLICE
    assert [entry.details["count"] for entry in AuditEntry.objects.filter(tool_call="memory_import")] == [SLICE] * 2
    assert index_problems() == []

    assert bring(path) == f"Stored {LINES - left} new for ana; {left} duplicate, 0 rejected."
    assert Memory.objects.for_owner(owner).values("content_hash").distinct().count() == LINES
    assert Memory.objects.for_owner(owner).count() == LINES
