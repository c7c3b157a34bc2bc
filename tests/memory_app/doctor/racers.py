"""What the processes of the kill tests do: one loads Django and forks those that die, all on one shared database."""

import json
import os
import signal
from typing import Any

from django.db import connections

from memory_app.doctor.fixes import edges
from memory_app.doctor.fixes.names import FixName
from memory_app.doctor.selectors import fixes
from memory_app.doctor.services import apply_fixes
from memory_app.edges import services as replay
from memory_app.edges.models import MemoryEdge
from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.kit.clock import NOON
from tests.kit.racers import FORK

PLACES = ("between line and change", "after the change", "after the first slice")
SLICE = 5
ROWS = 20


def seed() -> None:
    """Write memories."""
    owner = User.objects.get(is_default=True)
    provenance = Provenance(Source.AGENT_RECORDED, "test")
    drafts = [Draft(Category.OBSERVATION, f"Bought BTC, number {n}", provenance) for n in range(ROWS)]
    write_memories(owner_id=owner.pk, drafts=drafts, now=NOON, actor="test", tool_call="test")


def die(*_given: Any, **_named: Any) -> None:
    """End as a power cut does."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(place: str) -> None:
    """Apply the fix in slices of 5 memories and die at a place of the first slice, or behind it."""
    insert = edges.insert
    next_ids = replay.next_ids
    replay.next_ids = lambda last_id, table: next_ids(last_id, table)[:SLICE]
    match place:
        case "between line and change":
            edges.insert = die
        case "after the change":
            edges.insert = lambda rows, using: (insert(rows, using=using), die())
        case "after the first slice":
            replay.report_progress = die
    heal()


def die_everywhere() -> str:
    """Take all edges away and kill a fix, at each place; return how it ended, and what is there before and after another try."""
    seed()
    found = {}
    for place in PLACES:
        MemoryEdge.objects.all().delete()
        lines = outcome()["lines"]
        connections.close_all()
        process = FORK.Process(target=die_at, args=(place,))
        process.start()
        process.join()
        before = outcome(lines)
        heal()
        found[place] = [process.exitcode, before, outcome(lines)]
    return json.dumps(found)


def heal() -> None:
    """Apply the fix."""
    apply_fixes([FixName.EDGES], actor="command:doctor", now=NOON)


def outcome(earlier: int = 0) -> dict[str, int]:
    """Return how many edges there are, how many lines but for earlier ones, and what a fix would still do."""
    lines = AuditEntry.objects.filter(tool_call="doctor.fix.edges").count() - earlier
    left = fixes()[FixName.EDGES].dry_run(None).counts["added"]
    return {"edges": MemoryEdge.objects.count(), "lines": lines, "left": left}
