"""What the processes of the race between an undo and the effect of a mark do."""

import json
from datetime import timedelta

from memory_app.roles.models import RoleMemory
from memory_app.roles.services.outcome import UNDO_FOR, apply_mark, mark_outcome, undo_mark
from minara_site.access.models import User
from minara_site.kernel.errors import Conflict
from tests.kit.clock import NOON
from tests.kit.racers import in_processes, meet
from tests.memory_app.roles.rows import make_thesis

FINAL = NOON + UNDO_FOR
BEFORE = FINAL - timedelta(microseconds=1)


def undo_against_effect(marks: int) -> str:
    """Mark so many decisions; undo each in one process while another applies it; count who won."""
    owner = User.objects.get(is_default=True)
    ids = [make_thesis(owner, hours=30 + number).pk for number in range(marks)]
    for pk in ids:
        said = {"correct": True, "pnl_pct": None, "note": "", "actor": "user:1"}
        mark_outcome(owner=owner, entry_id=pk, now=NOON, undo_for=UNDO_FOR, **said)
    undone, applied = in_processes((undo_each, ids), (apply_each, ids))
    kept = set(RoleMemory.objects.filter(outcome="right", mark_effective_at=None).values_list("pk", flat=True))
    left = set(RoleMemory.objects.filter(outcome=None, mark_effective_at=None).values_list("pk", flat=True))
    assert (left, len(kept)) == (set(undone), applied)
    return json.dumps({"undone": len(left), "applied": len(kept)})


def undo_each(ids: list[int]) -> list[int]:
    """Undo one after the other, the last moment before its effect; return those that could be."""
    owner, undone = User.objects.get(is_default=True), []
    for pk in ids:
        meet()
        try:
            undo_mark(owner=owner, entry_id=pk, actor="user:1", now=BEFORE)
            undone.append(pk)
        except Conflict:
            pass
    return undone


def apply_each(ids: list[int]) -> int:
    """Apply one after the other; return how many could be."""
    applied = 0
    for pk in ids:
        meet()
        applied += apply_mark(pk, now=FINAL)
    return applied
