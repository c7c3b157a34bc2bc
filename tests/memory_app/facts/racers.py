"""What the processes of the races do, on one shared database."""

import json
import os
import signal
from collections import Counter
from typing import Any

from memory_app.facts.judge import judge_conflicts
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services import consolidate_pending, find_conflicts
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.events import memory_written
from tests.kit.clock import NOON
from tests.kit.racers import in_processes

AGAINST = (
    ("prefers weekly charts", "prefers daily charts"),
    ("lives in Berlin", "lives in Munich"),
    ("revenue guidance is 36B", "revenue guidance is 40B"),
)


def seed(count: int, copies: int) -> int:
    """Store so many pending facts, each text this many times."""
    record([f"holds {number} ETH" for number in range(count // copies)] * copies)
    return Memory.objects.count()


def record(texts: list[str]) -> None:
    """Store these pending facts of the default user."""
    owner = User.objects.get(is_default=True)
    drafts = [Draft(Category.FACT, text, Provenance(Source.AGENT_RECORDED, "key:test")) for text in texts]
    write_memories(owner_id=owner.pk, drafts=drafts, now=NOON, actor="test", tool_call="test")


def two_sweeps(count: int, copies: int) -> str:
    """Sweep twice at once; return how many decisions each took, and what stands."""
    seed(count, copies)
    return json.dumps([in_processes((sweep, 7), (sweep, 7)), outcome()])


def sweep(slice_size: int) -> int:
    """Return how many decisions a sweep took."""
    return sum(consolidate_pending(now=NOON, slice_size=slice_size).values())


def sweep_and_die(count: int, copies: int, slices: int) -> None:
    """Begin a sweep of one fact at a time, and die after so many."""
    seed(count, copies)
    done = []

    def note(**event: Any) -> None:
        done.append(event)
        if len(done) == slices:
            os.kill(os.getpid(), signal.SIGKILL)

    memory_written.connect(note)
    sweep(1)


def sweep_on() -> str:
    """Sweep what is left; return how much was decided before and now, and what stands."""
    before = ConsolidationEvent.objects.count()
    return json.dumps([before, sweep(50), outcome()])


def two_judges(count: int) -> str:
    """Let two judge the same pairs at once; return how many pairs there are, and how many each decided."""
    pairs = contradict(count)
    return json.dumps([pairs, *in_processes((judge,), (judge,))])


def judge() -> int:
    """Return how many pairs a judge decided."""
    return int(judge_conflicts(now=NOON).get("decided", 0))


def contradict(count: int) -> int:
    """Store so many pairs of facts that contradict each other; return how many were found."""
    record([text for pair in AGAINST[:count] for text in pair])
    consolidate_pending(now=NOON)
    return find_conflicts(now=NOON)


def outcome() -> dict[str, Any]:
    """Return what stands."""
    rows = Memory.objects.order_by("created_at", "pk").values_list("pk", "content", "fact_state")
    oldest: dict[str, int] = {}
    for pk, content, _state in rows:
        oldest.setdefault(content, pk)
    decided = Counter(ConsolidationEvent.objects.values_list("fact_id", flat=True))
    return {
        "states": Counter(state for _pk, _content, state in rows),
        "survivors_are_oldest": {pk for pk, _c, state in rows if state == "settled"} <= set(oldest.values()),
        "events": sum(decided.values()),
        "most_events": max(decided.values(), default=0),
    }
