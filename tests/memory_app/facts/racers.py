"""What the processes of the race do. Each function runs in a process of its own, on one shared database."""

import json
import time
from collections import Counter
from typing import Any

from memory_app.facts.judge import judge_conflicts
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.services import consolidate_pending, find_conflicts
from memory_app.memories.core import Category, Provenance, Source
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.kernel.events import memory_written
from tests.kit.clock import NOON


def seed(count: int, copies: int) -> int:
    """Store so many pending facts, each text this many times."""
    owner = User.objects.get(is_default=True)
    provenance = Provenance(Source.AGENT_RECORDED, "key:test")
    texts = [f"holds {number} ETH" for number in range(count // copies)]
    drafts = [Draft(Category.FACT, text, provenance) for text in texts * copies]
    write_memories(owner_id=owner.pk, drafts=drafts, now=NOON, actor="test", tool_call="test")
    return Memory.objects.count()


def sweep(slice_size: int, begin: float) -> int:
    """Sweep at this moment; return how many decisions were taken."""
    while time.time() < begin:
        time.sleep(0.001)
    return sum(consolidate_pending(now=NOON, slice_size=slice_size).values())


def sweep_slowly(slice_size: int) -> int:
    """Sweep in small steps and say each, so that somebody can kill it in the middle."""
    memory_written.connect(say_slice)
    return sum(consolidate_pending(now=NOON, slice_size=slice_size).values())


def say_slice(**event: Any) -> None:
    """Print a line for a slice that stands."""
    print("slice", flush=True)


def judge(begin: float) -> int:
    """Judge at this moment; return how many pairs this process decided."""
    while time.time() < begin:
        time.sleep(0.001)
    return int(judge_conflicts(now=NOON).get("decided", 0))


def contradict(count: int) -> int:
    """Store so many pairs of facts that contradict each other; return how many were found."""
    owner = User.objects.get(is_default=True)
    provenance = Provenance(Source.AGENT_RECORDED, "key:test")
    texts = [f"wants report number{n}x every {day}" for n in range(count) for day in ("Monday", "Friday")]
    drafts = [Draft(Category.FACT, text, provenance) for text in texts]
    write_memories(owner_id=owner.pk, drafts=drafts, now=NOON, actor="test", tool_call="test")
    consolidate_pending(now=NOON)
    return find_conflicts(now=NOON)


def outcome() -> str:
    """Return what stands."""
    rows = Memory.objects.order_by("created_at", "pk").values_list("pk", "content", "fact_state")
    oldest: dict[str, int] = {}
    for pk, content, _state in rows:
        oldest.setdefault(content, pk)
    decided = Counter(ConsolidationEvent.objects.values_list("fact_id", flat=True))
    return json.dumps(
        {
            "states": Counter(state for _pk, _content, state in rows),
            "survivors_are_oldest": {pk for pk, _c, state in rows if state == "settled"} <= set(oldest.values()),
            "events": sum(decided.values()),
            "most_events": max(decided.values(), default=0),
        }
    )
