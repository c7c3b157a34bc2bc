"""The markdown round trip with the real commands: seconds and peak memory, of few memories and of many."""

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.users import create_user
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.bench.figures import Figure
from tests.bench.texts import make_texts

COUNT, FEW = 20_000, 500
AT_MOST_SECONDS = 60
AT_MOST_MIB = 64  # more than for a tenth of them
ROOT = Path(__file__).resolve().parent.parent.parent


class Cost(NamedTuple):
    """What one command took."""

    seconds: float
    peak_mib: float


def run(scratch: Path, *, small: bool = False) -> list[Figure]:
    """Export one owner's memories and import them for another, with a tenth of them first."""
    count = FEW if small else COUNT
    few, many = (round_trip(scratch, name, size) for name, size in (("few", count // 10), ("many", count)))
    return [
        figure
        for act in ("export", "import")
        for figure in (
            Figure(
                name=f"{act} of {count:,} signed memories, the whole command",
                value=many[act].seconds,
                unit="s",
                bound=f"at most {AT_MOST_SECONDS}",
                ok=many[act].seconds <= AT_MOST_SECONDS,
                reference=f"{count / many[act].seconds:,.0f} memories/s; a tenth of them {few[act].seconds:.1f} s",
            ),
            Figure(
                name=f"{act} of {count:,}: peak memory beyond a tenth of them",
                value=many[act].peak_mib - few[act].peak_mib,
                unit="MiB",
                bound=f"at most {AT_MOST_MIB}",
                ok=many[act].peak_mib - few[act].peak_mib <= AT_MOST_MIB,
                reference=f"peak {many[act].peak_mib:,.0f} MiB, for a tenth {few[act].peak_mib:,.0f} MiB",
            ),
        )
    ]


def round_trip(scratch: Path, name: str, count: int) -> dict[str, Cost]:
    """Return what export and import of so many memories take, for a new user who loses them in between."""
    owner = make_owner(name)
    provenance = Provenance(Source.AGENT_RECORDED, "key:bench")
    texts = enumerate(make_texts(count))
    drafts = (Draft(Category.OBSERVATION, f"{text} #{name} {number}", provenance) for number, text in texts)
    write_memories(
        owner_id=owner.pk,
        drafts=drafts,
        now=timezone.now(),
        actor="key:bench",
        tool_call="memory_import",
    )
    folder = scratch / name
    export = spend("memory", "export", "--sign", "--out", str(folder), "--user", owner.username)
    Memory.objects.for_owner(owner).delete()
    costs = {
        "export": export,
        "import": spend("memory", "import", str(folder), "--apply", "--user", owner.username),
    }
    stored = Memory.objects.for_owner(owner).filter(source=Source.AGENT_RECORDED, held_at=None)
    assert stored.count() == count
    return costs


def make_owner(name: str) -> User:
    """Make somebody whose memories are measured."""
    return create_user(
        username=name,
        role=Role.USER,
        password=None,
        now=timezone.now(),
        actor="command:bench",
    )


def spend(*arguments: str) -> Cost:
    """Run a command in a process of its own and return what it took."""
    begun, peak_mib = time.perf_counter(), 0.0
    process = subprocess.Popen([sys.executable, "manage.py", *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        peak_mib = max(peak_mib, own_mib(process.pid))
        time.sleep(0.02)
    assert process.returncode == 0
    return Cost(time.perf_counter() - begun, peak_mib)


def own_mib(pid: int) -> float:
    """Return the memory that a process holds itself, in MiB: without the database file, which SQLite maps into it."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"RssAnon:\s+(\d+) kB", status)  # gone in the moment in which it ends
    return int(found[1]) / 1024 if found else 0.0
