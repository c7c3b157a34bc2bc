"""Changing what the owner typed, and going back to what it said before."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.utils.translation import gettext as _

from learning_app.preferences.limits import check_places
from memory_app.memories.core import (
    MAX_VERSIONS,
    MEMORY_KIND,
    REVERT_REASON,
    EmbeddingState,
    content_hash,
    guarded_text,
)
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.selectors import find_not_of_keys, get_memory, memory_records
from memory_app.memories.services.clean import clean_content, clean_fact_type, clean_tickers
from memory_app.memories.services.guarded import publish_stated, save_judged
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.changes.services import name_set, record, watch
from minara_site.kernel.core.vocabulary import USER_WRITTEN, Source
from minara_site.kernel.errors import Conflict, Refused, or_not_found
from minara_site.kernel.events import memory_written, send_after_commit
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.kernel.ownership import owner_locked

MAX_REASON_CHARS, KEPT = 200, "memory_kept"
CHANGED_FIELDS = (
    "content",
    "fact_type",
    "tickers",
    "actor",
    "content_hash",
    "version",
    "batch",
    "updated_at",
    "deleted_at",
    "held_at",
    "rules_version",
    "compared_at",
    "embedding_state",
)


@dataclass(frozen=True)
class Changes:
    """The fields of an edit; None leaves a field as it is."""

    content: str | None = None
    fact_type: str | None = None
    tickers: tuple[str, ...] | None = None


def edit_memory(
    *,
    principal: Principal,
    memory_id: int,
    changes: Changes,
    now: datetime,
    expected_version: int | None = None,
    reason: str = "",
) -> Memory:
    """Change what the owner typed and keep what it said before; while the guard refuses the new text, the row is held.

    Raises NotFound, Refused (`not_editable`), Invalid, and Conflict (`limits_full`; with the current row when
    `expected_version` is stale). An edit that changes nothing keeps the version. `reason` has at most MAX_REASON_CHARS.
    """
    with owner_locked(principal.owner.pk):
        memory = get_memory(owner=principal.owner, memory_id=memory_id, lock=True)
        check_editable(principal, memory)
        check_version(memory, expected_version, reader=principal.owner)
        before, was_limit = revision_of(memory, replaced_at=now, reason=reason), memory.is_limit
        if not apply_changes(memory, changes, now=now):
            return memory
        before.save(force_insert=True)
        memory.version += 1
        memory.actor = principal.actor
        store_edit(
            memory, was_limit=was_limit, actor=principal.actor, tool_call="memory_edited", now=now, reason=reason
        )
    return memory


def keep_memory(*, principal: Principal, memory_id: int, now: datetime) -> tuple[Memory, ChangeSet | None]:
    """Make what was inferred or noted its owner's own word, with the set that undoes it; None where it is so already.

    Raises NotFound, and Conflict: `held` while the guard holds it, `own_page` for a limit or a preference.
    """
    with owner_locked(principal.owner.pk):
        memory = get_memory(owner=principal.owner, memory_id=memory_id, lock=True)
        if memory.held_at or memory.deleted_at:
            raise Conflict(_("It is held or in the trash. Let it in or restore it first."), code="held")
        if memory.is_hard or memory.preference_id:
            raise Conflict(_("A limit or preference is confirmed on its own page."), code="own_page")
        watched = watch(MEMORY_KIND, [memory])
        if memory.source not in USER_WRITTEN:
            memory.source = Source.USER_EXPLICIT
            memory.save(update_fields=["source"])
        made = record(KEPT, watched, actor=principal.actor, at=now)
        if made:
            record_audit(
                now=now,
                actor=principal.actor,
                tool_call=KEPT,
                owner_id=memory.owner_id,
                details={"id": memory.pk, **name_set(made)},
            )
            send_after_commit(memory_written, owner_id=memory.owner_id, memory_ids=(memory.pk,))
    return memory, made


def revision_of(
    memory: Memory,
    *,
    replaced_at: datetime,
    reason: str,
) -> MemoryRevision:
    """Return the unsaved history row of what a memory says now."""
    return MemoryRevision(
        memory=memory,
        version=memory.version,
        content=memory.content,
        fact_type=memory.fact_type,
        tickers=memory.tickers,
        actor=memory.actor,
        updated_at=memory.updated_at,
        replaced_at=replaced_at,
        reason=reason,
    )


def apply_changes(memory: Memory, changes: Changes, *, now: datetime) -> bool:
    """Set the changed fields and say whether any differs; `updated_at` follows the content alone. Raises Invalid."""
    content = memory.content if changes.content is None else clean_content(changes.content)
    fact_type = memory.fact_type if changes.fact_type is None else clean_fact_type(changes.fact_type)
    tickers = memory.tickers if changes.tickers is None else clean_tickers(changes.tickers)
    if (content, fact_type, tickers) == (memory.content, memory.fact_type, memory.tickers):
        return False
    if content != memory.content:
        memory.updated_at = now
        memory.content_hash = content_hash(memory.category, content)
    memory.content, memory.fact_type, memory.tickers = content, fact_type, tickers
    return True


def revert_memory(
    *,
    principal: Principal,
    memory_id: int,
    version: int,
    now: datetime,
    expected_version: int | None = None,
) -> Memory:
    """Let a memory say again what it said, by whom it was said, as a new version. Its owner may, on every row.

    Raises NotFound, and Conflict as `edit_memory` does.
    """
    with owner_locked(principal.owner.pk):
        memory = get_memory(owner=principal.owner, memory_id=memory_id, lock=True)
        revision = or_not_found(memory.revisions.filter(version=version).first(), _("There is no such version."))
        check_version(memory, expected_version, reader=principal.owner)
        said, was_limit = (memory.content, memory.fact_type, memory.tickers), memory.is_limit
        updated_at = memory.updated_at
        before = revision_of(memory, replaced_at=now, reason=f"{REVERT_REASON}{version}")
        apply_version(memory, revision)
        if said == (memory.content, memory.fact_type, memory.tickers):
            return get_memory(owner=principal.owner, memory_id=memory_id)
        memory.updated_at = now if memory.content != said[0] else updated_at
        before.save(force_insert=True)
        store_edit(
            memory,
            was_limit=was_limit,
            actor=principal.actor,
            tool_call="memory_reverted",
            now=now,
            reason=before.reason,
        )
    return memory


def check_version(memory: Memory, expected: int | None, *, reader: User) -> None:
    """Raise Conflict with the current row unless it has the version that its editor saw."""
    if expected is not None and expected != memory.version:
        raise Conflict(
            _("This changed since you opened it. Reload the page."),
            code="stale",
            current=memory_records([memory], reader=reader)[0],
        )


def store_edit(
    memory: Memory,
    *,
    was_limit: bool,
    actor: str,
    tool_call: str,
    now: datetime,
    reason: str,
) -> None:
    """Store a changed row with the verdict on it, and record that."""
    if memory.is_limit and not was_limit:
        check_places(memory.owner_id)
    save_judged(memory, actor=actor, now=now)
    record_audit(
        now=now,
        actor=actor,
        tool_call=tool_call,
        owner_id=memory.owner_id,
        reasoning=reason,
        details={
            "id": memory.pk,
            "version": memory.version,
            "sha256": content_digest(memory.content),
            **({"held": 1} if memory.held_at else {}),
        },
    )
    send_after_commit(memory_written, owner_id=memory.owner_id, memory_ids=(memory.pk,))
    publish_stated([memory], now=now)


def restore_version(memories: Sequence[Memory], *, now: datetime) -> Collection[int]:
    """Bring back what memories said last before the guard refused a text; return the ids of those that said something.

    It is written by whom it was, and takes its old place in the prompt. Needs a transaction and the locked rows.
    """
    found = find_accepted(memories)
    rows = [row for row in memories if row.pk in found]
    reasons = {pk: f"{REVERT_REASON}{revision.version}" for pk, revision in found.items()}
    MemoryRevision.objects.bulk_create(
        [
            revision_of(
                row,
                replaced_at=now,
                reason=reasons[row.pk],
            )
            for row in rows
        ]
    )
    for row in rows:
        apply_version(row, found[row.pk])
        row.held_at, row.rules_version = None, guard.RULES.version
    store_changed(rows)
    return found.keys()


def find_accepted(memories: Sequence[Memory]) -> dict[int, MemoryRevision]:
    """Return by memory the newest earlier version that the guard accepts; all of them go back a version at a time."""
    found: dict[int, MemoryRevision] = {}
    metadata = {row.pk: row.metadata for row in memories}
    for back in range(1, MAX_VERSIONS + 1):
        waiting = metadata.keys() - found.keys()
        earlier = MemoryRevision.objects.filter(memory__in=waiting, version=F("memory__version") - back)
        revisions = {each.memory_id: each for each in earlier}
        if not revisions:
            break
        texts = {
            pk: guarded_text(
                content=each.content,
                fact_type=each.fact_type,
                tickers=each.tickers,
                metadata=metadata[pk],
            )
            for pk, each in revisions.items()
        }
        verdicts = judge_stored(MEMORY_KIND, texts)
        found |= {pk: each for pk, each in revisions.items() if not verdicts[pk].is_held}
    return found


def apply_version(row: Memory, earlier: MemoryRevision) -> None:
    """Let a memory say what an earlier version said, by whom it was said, in its old place in the prompt."""
    row.content, row.fact_type, row.tickers = earlier.content, earlier.fact_type, earlier.tickers
    row.content_hash = content_hash(row.category, row.content)
    row.actor = earlier.actor
    row.updated_at = earlier.updated_at or row.created_at
    row.version += 1


def store_changed(rows: Sequence[Memory]) -> None:
    """Write changed rows and what is derived from them in few statements; their vectors are looked at again."""
    for row in rows:
        row.embedding_state, row.compared_at = EmbeddingState.PENDING, None
    Memory.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=CHANGED_FIELDS,
    )


def check_editable(principal: Principal, memory: Memory) -> None:
    """Raise Refused unless its owner stated it, or a key changes what is a key's."""
    if principal.is_key:
        check_by_key(principal, [memory])
    elif not memory.is_editable:
        detail = _("Only what you typed yourself can be edited. Correct it in your own words, or delete it.")
        raise Refused(detail, code="not_editable")


def check_by_key(principal: Principal, rows: Sequence[Memory]) -> None:
    """Raise Refused unless a key may change and delete all of these; the owner's own interface may, but for limits."""
    refused = {row.pk for row in rows if row.is_hard} if principal.is_gateway else find_not_of_keys(rows)
    if refused:
        detail = _("A key changes and deletes only what keys wrote and no person confirmed. Nothing was changed.")
        raise Refused(detail, code="not_editable")
