"""What the processes of the race tests do. Each function runs in a process of its own, on one shared database."""

import json
import time
from datetime import timedelta

from django.db.models import Q

from memory_app.held.services import release_hold
from memory_app.memories.core import Category, Provenance, Source
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services import (
    Changes,
    Draft,
    delete_memories,
    edit_memory,
    purge_expired,
    restore_memories,
    undo_batch,
    write_memories,
)
from memory_app.memories.tasks import purge
from memory_app.search.index import index_problems
from memory_app.why.core import Door
from memory_app.why.services import log_search
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.guard.models import Hold
from tests.kit.clock import NOON

END = NOON + timedelta(days=30)
SECOND = timedelta(seconds=1)
SLOT_SECONDS = 0.1


def owner() -> User:
    return User.objects.get(is_default=True)


def me() -> Principal:
    return Principal(user=owner(), role=Role.USER)


def wait_for(moment: float) -> None:
    """Begin together with the others."""
    while time.time() < moment:
        time.sleep(0.001)


def seed(count: int, is_deleted: bool) -> int:
    draft = Draft(Category.PERSONALIZATION, "", Provenance(Source.USER_MANUAL, "test"))
    drafts = [Draft(draft.category, f"Memory number {n}", draft.provenance) for n in range(count)]
    write_memories(owner_id=owner().pk, drafts=drafts, now=NOON, actor="test", tool_call="test")
    if is_deleted:
        Memory.objects.update(deleted_at=NOON)
    return Memory.objects.count()


def restore_each(begin: float) -> int:
    """Restore one after the other, a second before the end; return how many were still there."""
    ids, restored = list(Memory.objects.order_by("pk").values_list("pk", flat=True)), 0
    wait_for(begin)
    for pk in ids:
        try:
            restore_memories(principal=me(), owner=owner(), ids=[pk], now=END - SECOND)
        except NotFound:
            continue
        restored += 1
    return restored


def purge_each(begin: float) -> int:
    """Purge one after the other, a second after the end, until nothing is left in the trash."""
    purged = 0
    wait_for(begin)
    while Memory.objects.deleted().exists():
        purged += purge_expired(now=END + SECOND, slice_size=1)
    return purged


def outcome_of_purge() -> str:
    """Return how each memory ended: by audit log, table and index."""
    ended: dict[int, list[str]] = {}
    for entry in AuditEntry.objects.filter(tool_call__in=["memory_restored", "memory_purged"]):
        for row in entry.details["memories"]:
            ended.setdefault(row["id"], []).append(entry.tool_call)
    live = list(Memory.objects.live().values_list("pk", flat=True))
    return json.dumps(
        {
            "restored": sorted(pk for pk, acts in ended.items() if acts == ["memory_restored"]),
            "purged": sorted(pk for pk, acts in ended.items() if acts == ["memory_purged"]),
            "live": sorted(live),
            "deleted": Memory.objects.deleted().count(),
            "problems": index_problems(),
        }
    )


def edit_often(name: str, rounds: int, begin: float) -> str:
    """In each time slot read the one memory, wait, and edit it; return which edits were taken, and how many were stale.

    Both processes read before either writes, unless the machine is late.
    """
    principal, taken, stale = me(), [], 0
    for n in range(rounds):
        wait_for(begin + n * SLOT_SECONDS)
        memory = Memory.objects.get()
        text = f"{name} {n}"
        wait_for(begin + (n + 0.5) * SLOT_SECONDS)
        try:
            edit_memory(
                principal=principal,
                memory_id=memory.pk,
                changes=Changes(content=text),
                expected_version=memory.version,
                now=NOON,
            )
        except Conflict:
            stale += 1
        else:
            taken.append(text)
    return json.dumps({"taken": taken, "stale": stale})


def outcome_of_edits() -> str:
    memory = Memory.objects.get()
    versions = MemoryRevision.objects.order_by("version").values_list("version", "content")
    return json.dumps(
        {
            "version": memory.version,
            "texts": [text for _version, text in versions] + [memory.content],
            "versions": [version for version, _text in versions],
            "audited": AuditEntry.objects.filter(tool_call="memory_edited").count(),
            "problems": index_problems(),
        }
    )


def delete_and_undo(backwards: bool, rounds: int, begin: float) -> int:
    """Delete all rows and take it back, naming the ids in one order or the other."""
    principal = me()
    ids = list(Memory.objects.order_by("-pk" if backwards else "pk").values_list("pk", flat=True))
    wait_for(begin)
    undone = 0
    for _ in range(rounds):
        batch = delete_memories(principal=principal, owner=owner(), ids=ids, now=NOON)
        try:
            undone += len(undo_batch(principal=principal, owner=owner(), batch=batch.id, now=NOON).ids)
        except NotFound:
            continue
    return undone


def outcome_of_undo() -> str:
    """Return how many rows were deleted and restored over all, and how many are deleted now."""
    acts = {"memory_removed": 0, "memory_restored": 0}
    for entry in AuditEntry.objects.filter(Q(tool_call="memory_removed") | Q(tool_call="memory_restored")):
        acts[entry.tool_call] += len(entry.details["memories"])
    return json.dumps({**acts, "deleted": Memory.objects.deleted().count()})


def write_and_edit(word: str) -> int:
    """Write memories that hold a word, search for it, change their words and delete them; other memories stay.

    The guard holds the last two; one is released before it goes.
    """
    texts = [f"{word} number {n}" for n in range(40)] + [f"{word} \u202eheld {n}" for n in range(2)]
    drafts = [Draft(Category.PERSONALIZATION, text, Provenance(Source.USER_MANUAL, "test")) for text in texts]
    write_memories(owner_id=owner().pk, drafts=drafts, now=NOON, actor="test", tool_call="test")
    chosen = list(Memory.objects.filter(content__contains=word).values_list("pk", flat=True))
    operator = Principal(user=owner(), role=Role.OPERATOR)
    release_hold(principal=operator, hold_id=Hold.objects.open().latest("pk").pk, now=NOON)
    for pk in chosen[:5]:
        edit_memory(principal=me(), memory_id=pk, changes=Changes(content=f"{word} again"), now=NOON)
    log_search(principal=me(), owner=owner(), query=f"{word} number", ids=chosen, now=NOON, door=Door.PAGE)
    delete_memories(principal=me(), owner=owner(), ids=chosen, now=NOON)
    return seed(40, False)


def purge_now() -> str:
    return json.dumps(
        {**purge(now=END + SECOND), "again": purge(now=END + SECOND)["purged"], "problems": index_problems()}
    )
