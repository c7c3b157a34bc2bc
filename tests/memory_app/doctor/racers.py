"""What the processes of the kill tests do. Each function runs in a process of its own, on one shared database."""

import json
import os
import signal
from typing import Any

from memory_app.doctor.fixes import FIXES, FixName, edges
from memory_app.doctor.services import apply_fixes
from memory_app.edges import services as replay
from memory_app.edges.models import MemoryEdge
from memory_app.memories.core import Category, Provenance, Source
from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from tests.kit.clock import NOON

SLICE = 5
ROWS = 20


def seed() -> int:
    """Write memories that have lost their edges."""
    owner = User.objects.get(is_default=True)
    provenance = Provenance(Source.AGENT_RECORDED, "test")
    drafts = [Draft(Category.OBSERVATION, f"Bought BTC, number {n}", provenance) for n in range(ROWS)]
    write_memories(owner_id=owner.pk, drafts=drafts, now=NOON, actor="test", tool_call="test")
    return int(MemoryEdge.objects.all().delete()[0])


def die(*_given: Any, **_named: Any) -> None:
    """End as a power cut does."""
    os.kill(os.getpid(), signal.SIGKILL)


def seed_and_die(place: str) -> None:
    """Apply the fix in slices of 5 memories and die at a place of the first slice, or behind it."""
    seed()
    insert = edges.insert
    next_ids = replay.next_ids
    replay.next_ids = lambda last_id, source: next_ids(last_id, source)[:SLICE]
    match place:
        case "between line and change":
            edges.insert = die
        case "after the change":
            edges.insert = lambda rows: (insert(rows), die())
        case "after the first slice":
            replay.report_progress = die
    heal()


def heal() -> None:
    """Apply the fix."""
    apply_fixes([FixName.EDGES], actor="command:doctor", now=NOON)


def outcome() -> dict[str, int]:
    """Return how many edges stand, how many lines, and what a fix would still do."""
    lines = AuditEntry.objects.filter(tool_call="doctor.fix.edges").count()
    left = FIXES[FixName.EDGES].foresee(None).counts["added"]
    return {"edges": MemoryEdge.objects.count(), "lines": lines, "left": left}


def look_and_heal() -> str:
    """Return the outcome before and after another try."""
    before = outcome()
    heal()
    return json.dumps([before, outcome()])
