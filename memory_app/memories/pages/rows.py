"""One memory as pages show it: what it costs in a prompt, whether it is read there, what its reader may do with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils.translation import ngettext

from memory_app.index.core.highlight import Highlighter
from memory_app.index.selectors import read_query
from memory_app.memories.conflicts import ConflictMark, find_marks, mark_each
from memory_app.memories.core import State
from memory_app.memories.core.destinations import Destination
from memory_app.memories.models import Memory
from memory_app.memories.prompt_use import PromptUse, prompt_line
from memory_app.memories.selectors import Deletion, find_deletions, find_own_deletions, find_unrestorable, retention
from memory_app.memories.unconfirmed import find_unconfirmed
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.core.excerpt import Segment, cut
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.core.vocabulary import BROUGHT_IN, USER_WRITTEN, WriterKind, is_by_person
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.ownership import Everyone, Owner
from minara_site.web.moments import span_label

DAY = timedelta(days=1)


@dataclass(frozen=True)
class MemoryView:
    """A memory as a row: what it costs in a prompt, whether it is read there, and what this reader may do with it.

    `memory` is as this reader may see it: secrets of somebody else are masked.
    `owner_name` is empty in lists of one owner, `segments` where nobody searched. `unconfirmed` are the addresses that
    an agent wrote and the owner never did. `brought_in_by` is who imported it, where that is not its owner,
    `deleted_before` when its owner deleted the same words.
    """

    memory: Memory
    tokens: int
    in_prompt: bool
    note: str
    time_left: str
    is_own: bool
    may_edit: bool
    may_remove: bool
    owner_name: str = ""
    segments: tuple[Segment, ...] = ()
    unconfirmed: tuple[Destination, ...] = ()
    deleted_before: datetime | None = None
    deleted_by: str = ""
    reason: str = ""
    brought_in_by: str = ""
    mark: ConflictMark | None = None

    @property
    def pk(self) -> int:
        return self.memory.pk

    @property
    def is_stated_by_key(self) -> bool:
        """Whether an agent wrote it as its user's word: then both stand on it."""
        return self.memory.source in USER_WRITTEN and self.memory.writer_kind is WriterKind.AGENT

    @property
    def asks_first(self) -> bool:
        """Whether deleting or restoring it asks on a page of its own: for a reason, or whether it is meant."""
        return not self.is_own or (self.memory.is_hard and self.memory.deleted_at is None)

    @property
    def may_correct(self) -> bool:
        """Whether this reader may put it right by a memory of their own."""
        return self.is_own and not self.may_edit and self.memory.deleted_at is None

    @property
    def may_keep(self) -> bool:
        """Whether this reader may make it their own word as it stands."""
        memory = self.memory
        is_theirs = memory.source in USER_WRITTEN or memory.is_hard or memory.preference_id
        return self.is_own and memory.state is State.LIVE and not is_theirs

    @property
    def doubtful(self) -> tuple[Segment, ...]:
        """The text with its unconfirmed addresses marked."""
        return cut(
            self.memory.content,
            [(each.start, each.end) for each in self.unconfirmed],
        )


def shape_rows(
    memories: Iterable[Memory],
    *,
    principal: Principal,
    owner: Owner,
    reading: PromptUse,
    now: datetime,
    query: str = "",
) -> list[MemoryView]:
    """Return memories as rows of the list of this owner, with what `query` found in them marked."""
    memories = list(memories)
    deleted, kept = find_own_deletions(memories), find_unrestorable(memories)
    live = [memory.pk for memory in memories if memory.state is State.LIVE]
    marks = find_marks(live) if reading.pairs is None else mark_each(live, reading.pairs)
    rows = [
        shape_row(
            memory,
            principal=principal,
            reading=reading,
            now=now,
        )
        for memory in memories
    ]
    rows = [
        replace(
            row,
            deleted_before=deleted.get(row.pk),
            mark=marks.get(row.pk),
            may_remove=row.may_remove and (principal.is_operator or row.pk not in kept),
        )
        for row in rows
    ]
    if isinstance(owner, Everyone):
        rows = [replace(row, owner_name=row.memory.owner.get_short_name()) for row in rows]
    rows = with_unconfirmed(rows, owner=owner)
    actors = {row.pk: row.memory.actor for row in rows if row.memory.badge == BROUGHT_IN}
    names = name_actors(actors.values(), reader=principal.owner) if actors else {}
    rows = [replace(row, brought_in_by=names[actors[row.pk]]) if row.pk in actors else row for row in rows]
    return mark_hits(rows, query) if query else rows


def with_unconfirmed(rows: Sequence[MemoryView], *, owner: Owner) -> list[MemoryView]:
    """Return rows with the addresses that nobody but an agent wrote. No query unless there is one, then two."""
    by_agents = {
        row.pk: row.memory.content for row in rows if not is_by_person(source=row.memory.source, actor=row.memory.actor)
    }
    found = find_unconfirmed(by_agents, owner=owner)
    return [replace(row, unconfirmed=found[row.pk]) if row.pk in found else row for row in rows]


def mark_hits(rows: Iterable[MemoryView], query: str) -> list[MemoryView]:
    """Return rows with the words that a query found."""
    parsed = read_query(query)
    highlighter = Highlighter(parsed.node, parsed.literal)
    return [
        replace(
            row,
            segments=highlighter.mark(row.memory.content).segments,
        )
        for row in rows
    ]


def shape_row(
    memory: Memory,
    *,
    principal: Principal,
    reading: PromptUse,
    now: datetime,
) -> MemoryView:
    """Return one memory as this reader sees it."""
    is_own = memory.owner_id == principal.owner.pk
    return MemoryView(
        memory=masked_for(principal.owner, memory),
        tokens=estimate_tokens(prompt_line(memory)),
        in_prompt=memory.pk in reading.ids,
        note=reading.note(memory),
        time_left=time_left(memory, now),
        is_own=is_own,
        may_edit=is_own and memory.deleted_at is None and memory.is_editable,
        may_remove=is_own or principal.is_operator,
    )


def time_left(memory: Memory, now: datetime) -> str:
    """Return how long a deleted memory can still be restored, begun days as whole ones; empty for a live one."""
    if not memory.deleted_at:
        return ""
    left = memory.deleted_at + retention() - now
    return span_label(DAY * -(-left // DAY) if left > DAY else left)


def with_deletions(rows: Sequence[MemoryView], *, reader: User) -> list[MemoryView]:
    """Return rows with who deleted them and why. Two queries."""
    deletions = find_deletions(row.memory for row in rows)
    names = name_actors((deletion.actor for deletion in deletions.values()), reader=reader)
    return [with_deletion(row, deletions, names) for row in rows]


def with_deletion(
    row: MemoryView,
    deletions: Mapping[str, Deletion],
    names: Mapping[str, str],
) -> MemoryView:
    """Return one row with who deleted it and why."""
    deletion = deletions.get(row.memory.batch or "")
    return replace(row, deleted_by=names[deletion.actor], reason=deletion.reason) if deletion else row


def restorable_label(count: int) -> str:
    """Return for how long that many deleted memories can be restored."""
    words = ngettext("It can be restored for %(days)d days.", "They can be restored for %(days)d days.", count)
    return words % {"days": retention().days}
