"""What the processes of the race tests do, on one shared database."""

import json
from datetime import timedelta
from itertools import chain
from typing import Any

from django.db.models import Q

from learning_app.preferences.services.decide import archive
from memory_app.index.documents import index_problems
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services import (
    Changes,
    Draft,
    delete_memories,
    edit_memory,
    purge_expired,
    restore_memories,
    write_memories,
    write_memory,
)
from memory_app.memories.tasks import bridge_preferences, purge
from memory_app.search.core.surfaces import Surface
from memory_app.search.log import log_search
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.guard.models import Hold
from minara_site.shell.undo import undo_set
from tests.console.quarantine.one_hold import release_hold
from tests.kit.clock import NOON
from tests.kit.racers import in_processes, meet
from tests.learning_app.rows import make_preference

END = NOON + timedelta(days=30)
SECOND = timedelta(seconds=1)


def owner() -> User:
    return User.objects.get(is_default=True)


def me() -> Principal:
    return Principal(user=owner(), role=Role.USER)


def seed(count: int, is_deleted: bool) -> int:
    draft = Draft(Category.PERSONALIZATION, "", Provenance(Source.USER_MANUAL, "test"))
    drafts = [Draft(draft.category, f"Memory number {n}", draft.provenance) for n in range(count)]
    write_memories(owner_id=owner().pk, drafts=drafts, now=NOON, actor="test", tool_call="test")
    if is_deleted:
        Memory.objects.update(deleted_at=NOON)
    return Memory.objects.count()


def restore_and_purge(count: int) -> str:
    """Restore and purge the same rows at once; return how many each took, and what came of them."""
    seed(count, True)
    restored, purged = in_processes((restore_each,), (purge_each,))
    return json.dumps({"restores": restored, "purges": purged, **outcome_of_purge()})


def restore_each() -> int:
    """Restore one after the other, a second before the end; return how many were still there."""
    ids, restored = list(Memory.objects.order_by("pk").values_list("pk", flat=True)), 0
    for pk in ids:
        try:
            restore_memories(principal=me(), owner=owner(), ids=[pk], now=END - SECOND)
        except NotFound:
            continue
        restored += 1
    return restored


def purge_each() -> int:
    """Purge one after the other, a second after the end, until nothing is left in the trash."""
    purged = 0
    while Memory.objects.deleted().exists():
        purged += purge_expired(now=END + SECOND, slice_size=1)
    return purged


def outcome_of_purge() -> dict[str, Any]:
    """Return how each memory ended: by audit log, table and index."""
    ended: dict[int, list[str]] = {}
    for entry in AuditEntry.objects.filter(tool_call__in=["memory_restored", "memory_purged"]):
        for row in entry.details["memories"]:
            ended.setdefault(row["id"], []).append(entry.tool_call)
    live = list(Memory.objects.live().values_list("pk", flat=True))
    return {
        "restored": sorted(pk for pk, acts in ended.items() if acts == ["memory_restored"]),
        "purged": sorted(pk for pk, acts in ended.items() if acts == ["memory_purged"]),
        "live": sorted(live),
        "deleted": Memory.objects.deleted().count(),
        "problems": index_problems(),
    }


def two_editors(rounds: int) -> str:
    """Let two edit one memory at once, round by round; return which edits of each were taken, and what stands."""
    seed(1, False)
    taken = in_processes((edit_often, "ana", rounds), (edit_often, "ben", rounds))
    return json.dumps({"taken": taken, **outcome_of_edits()})


def edit_often(name: str, rounds: int) -> list[str]:
    """In each round read the one memory, and edit it once the other has read it too; return which edits were taken."""
    principal, taken = me(), []
    for n in range(rounds):
        meet()
        memory = Memory.objects.get()
        text = f"{name} {n}"
        meet()
        try:
            edit_memory(
                principal=principal,
                memory_id=memory.pk,
                changes=Changes(content=text),
                expected_version=memory.version,
                now=NOON,
            )
        except Conflict:
            continue
        taken.append(text)
    return taken


def write_equal(processes: int, times: int) -> str:
    """Let so many processes write the same text at once, so many times each; return what stands."""
    told = list(chain.from_iterable(in_processes(*((write_again, times) for _process in range(processes)))))
    memory = Memory.objects.get()
    ended = {"ids": len({pk for pk, _is_repeated in told}), "rows": Memory.objects.count(), "seen": memory.seen}
    first = sum(not is_repeated for _pk, is_repeated in told)
    return json.dumps(ended | {"first": first, "problems": index_problems()})


def write_again(times: int) -> list[tuple[int, bool]]:
    """Write the same text each time that all others do; return the row of each time, and whether it stood already."""
    draft, told = Draft(Category.LESSON, "Trail stops", Provenance(Source.AGENT_RECORDED, "key:test")), []
    for _time in range(times):
        meet()
        memory = write_memory(owner_id=owner().pk, draft=draft, now=NOON)
        told.append((memory.pk, memory.is_repeated))
    return told


def outcome_of_edits() -> dict[str, Any]:
    memory = Memory.objects.get()
    versions = MemoryRevision.objects.order_by("version").values_list("version", "content")
    return {
        "version": memory.version,
        "texts": [text for _version, text in versions] + [memory.content],
        "versions": [version for version, _text in versions],
        "audited": AuditEntry.objects.filter(tool_call="memory_edited").count(),
        "problems": index_problems(),
    }


def bulk_acts(count: int, rounds: int) -> str:
    """Let three processes delete the same rows and take it back; return what stands."""
    seed(count, False)
    in_processes(*((delete_and_undo, is_backwards, rounds) for is_backwards in (False, True, False)))
    return json.dumps(outcome_of_undo())


def delete_and_undo(backwards: bool, rounds: int) -> int:
    """Delete all rows and take it back, naming the ids in one order or the other."""
    principal = me()
    ids = list(Memory.objects.order_by("-pk" if backwards else "pk").values_list("pk", flat=True))
    undone = 0
    for _ in range(rounds):
        batch = delete_memories(principal=principal, owner=owner(), ids=ids, now=NOON)
        try:
            _made, plan = undo_set(batch.change_set or 0, principal=principal, now=NOON)
            undone += len(plan.steps)
        except (Conflict, NotFound):
            continue
    return undone


def outcome_of_undo() -> dict[str, int]:
    """Return how many rows were deleted and restored over all, and how many are deleted now."""
    acts = {"memory_removed": 0, "memory_restored": 0}
    for entry in AuditEntry.objects.filter(Q(tool_call="memory_removed") | Q(tool_call="memory_restored")):
        acts[entry.tool_call] += len(entry.details["memories"])
    return {**acts, "deleted": Memory.objects.deleted().count()}


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
    log_search(principal=me(), owner=owner(), query=f"{word} number", ids=chosen, now=NOON, door=Surface.PAGE)
    delete_memories(principal=me(), owner=owner(), ids=chosen, now=NOON)
    return seed(40, False)


def purge_now() -> str:
    return json.dumps(
        {**purge(now=END + SECOND), "again": purge(now=END + SECOND)["purged"], "problems": index_problems()}
    )


def bridge_in_four(count: int) -> str:
    """Let four processes run the job about the same preferences while one of each pair ends; return what stands."""
    rows = [make_preference(owner(), f"Prefers venue {n}.", state="active") for n in range(count)]
    ids = [row.pk for row in rows]
    in_processes(*((bridge_preferences_now, ids) for _ in range(3)), (archive_every_second, ids))
    bridge_preferences_now(ids)
    live = Memory.objects.live().values_list("origin", flat=True)
    return json.dumps({"live": sorted(live), "written": Memory.objects.count(), "problems": index_problems()})


def bridge_preferences_now(ids: list[int]) -> dict[str, int]:
    return bridge_preferences(ids=ids, now=NOON)


def archive_every_second(ids: list[int]) -> None:
    """End every second preference, and let the job run about it as the announcement does."""
    for pk in ids[::2]:
        archive(preference_id=pk, owner=owner(), actor="test", now=NOON)
        bridge_preferences_now([pk])
