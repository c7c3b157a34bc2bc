"""A real conversation goes in through the real command, whole and once."""

import json
from collections import Counter
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from memory_app.memories.models import Memory
from minara_site.kernel.audit_log.models import AuditEntry
from tests.kit.shared import shared_path

pytestmark = pytest.mark.django_db


def conversation_lines(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every turn as a line of JSON, dated by its session."""
    lines = []
    for name in [key for key in conversation if key.startswith("session_") and not key.endswith("_date_time")]:
        said_at = datetime.strptime(conversation[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        lines += [
            {
                "content": f"{turn['speaker']}: {turn['text']}",
                "created_at": said_at.isoformat(),
                "metadata": {"dia_id": turn["dia_id"], "session": name},
            }
            for turn in conversation[name]
        ]
    return lines


@pytest.mark.database
def test_every_turn_becomes_a_memory_once(ana: Any, tmp_path: Path) -> None:
    samples = json.loads(shared_path("data/locomo_dev.json").read_text())
    lines = [line for sample in samples for line in conversation_lines(sample["conversation"])]
    path = tmp_path / "locomo.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    distinct = {line["content"].strip() for line in lines}

    out = StringIO()
    call_command("import", str(path), "--from", "jsonl", "--user", "ana", "--apply", stdout=out)
    verdicts = Counter(line.split()[0] for line in out.getvalue().splitlines()[:-1])
    assert len(lines) > 1_000
    assert verdicts == Counter(new=len(distinct), duplicate=len(lines) - len(distinct))
    assert set(Memory.objects.for_owner(ana).values_list("content", flat=True)) == distinct
    first = Memory.objects.get(origin="import:locomo.jsonl:1")
    assert first.updated_at.isoformat() == lines[0]["created_at"]
    assert first.metadata == lines[0]["metadata"]

    before = Memory.objects.count(), AuditEntry.objects.count()
    again = StringIO()
    call_command("import", str(path), "--from", "jsonl", "--user", "ana", "--apply", stdout=again)
    assert again.getvalue().splitlines()[-1] == f"Stored 0 new for ana; {len(lines)} duplicate, 0 rejected."
    assert (Memory.objects.count(), AuditEntry.objects.count()) == before
