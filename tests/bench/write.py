"""What one durable memory costs beside a bare row, to an owner of many: guard, duplicate, row, limits, index, audit."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from django.utils import timezone

from memory_app.memories.core import HARD_CONSTRAINT
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memories, write_memory
from minara_site.access.models import AccessEntry, User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.events import memory_written
from tests.bench.figures import Figure
from tests.bench.texts import make_texts

COUNT, FEW = 2_000, 100
MANY, SOME = 100_000, 500  # memories that the owner has
AT_MOST = 9.5  # times a bare row


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Write memories one by one, and bare rows beside them in the same file; the median of three rounds each."""
    count = FEW if small else COUNT
    owner = User.objects.get(is_default=True)
    stored = fill(owner, SOME if small else MANY)
    told: list[int] = []
    receiver: Callable[..., None] = lambda memory_ids, **_: told.extend(memory_ids)  # noqa: E731
    memory_written.connect(receiver, weak=False)
    plain, guarded = [], []
    for number, texts in enumerate(zip(*[iter(make_texts(count * 3))] * count, strict=True)):
        plain.append(create_rows(owner, count))
        guarded.append(write_rows(owner, [f"{text} #{number}" for text in texts]))
    assert len(told) == Memory.objects.count() - stored == AuditEntry.objects.filter(tool_call="memory_write").count()
    ratio = statistics.median(each / bare for each, bare in zip(guarded, plain, strict=True))
    return [
        Figure(
            name=f"one durable write of a memory beside {stored:,}",
            value=ratio,
            unit="x bare row",
            bound=f"at most {AT_MOST}",
            ok=ratio <= AT_MOST,
            reference=f"{count / statistics.median(guarded):,.0f} memories/s beside "
            f"{count / statistics.median(plain):,.0f} Model.objects.create()/s, each committed",
        )
    ]


def fill(owner: User, count: int) -> int:
    """Store so many memories of an owner, two limits among them; return how many."""
    agent, typed = Provenance(Source.AGENT_RECORDED, "key:bench"), Provenance(Source.USER_MANUAL, f"user:{owner.pk}")
    rules = ("Never more than 2x leverage", "No options")
    drafts = [Draft(Category.PERSONALIZATION, rule, typed, fact_type=HARD_CONSTRAINT) for rule in rules]
    drafts += [Draft(Category.OBSERVATION, f"{text} #{n} of before", agent) for n, text in enumerate(make_texts(count))]
    write_memories(owner_id=owner.pk, drafts=drafts, now=timezone.now(), actor="bench", tool_call="bench")
    return Memory.objects.count()


def create_rows(owner: User, count: int) -> float:
    """Return the seconds that bare rows take, each with its own commit."""
    begun = time.perf_counter()
    for number in range(count):
        AccessEntry.objects.create(
            at=timezone.now(),
            viewer=owner,
            owner=owner,
            kind="memory",
            object_id=str(number),
        )
    return time.perf_counter() - begun


def write_rows(owner: User, texts: list[str]) -> float:
    """Return the seconds that memories take, each with its own commit."""
    provenance = Provenance(Source.AGENT_RECORDED, "key:bench")
    begun = time.perf_counter()
    for text in texts:
        write_memory(
            owner_id=owner.pk,
            draft=Draft(Category.OBSERVATION, text, provenance),
            now=timezone.now(),
        )
    return time.perf_counter() - begun
