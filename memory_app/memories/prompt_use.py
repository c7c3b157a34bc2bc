"""Which memories an agent reads without asking, and why it does not read the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from learning_app.preferences.limits import load_limits
from memory_app.memories.conflicts import OPEN_PAIRS, OpenPair
from memory_app.memories.core import MEMORY_KIND, FactState
from memory_app.memories.core.prompt import MAX_OBSERVATIONS, MemoryRow, memory_line
from memory_app.memories.hidden import hides_memories
from memory_app.memories.models import Memory
from memory_app.memories.prompt_rows import load_prompt_ids
from minara_site.access.models import User
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.core.vocabulary import Category, LeftOutReason
from minara_site.kernel.guard.selectors import find_held
from minara_site.kernel.ownership import Owner


@dataclass(frozen=True)
class PromptUse:
    """Which memories an agent reads without asking.

    Those of its running session, whose prompt was frozen at `since`; without a session those of the next one.
    Unknown across owners.
    """

    ids: frozenset[int] = frozenset()
    since: datetime | None = None
    is_known: bool = False
    is_hidden: bool = False  # personalization memories and settled facts
    left_out: Mapping[int, LeftOutReason] = field(default_factory=dict)
    pairs: Sequence[OpenPair] | None = None  # open ones, where they were read

    def note(self, memory: Memory) -> str:
        """Return why the agent does or does not read this memory, empty when unknown."""
        if memory.pk in self.ids:
            return self.note_inside(memory)
        if not self.is_known or memory.deleted_at:
            return ""
        if reason := self.reason_to_leave_out(memory):
            return str(NOTES[reason])
        if self.since and (memory.updated_at > self.since or len(self.ids) < MAX_OBSERVATIONS):
            return _("since the session began")  # a prompt with places left would have carried it: it came later
        return str(NOTES[LeftOutReason.OLDER])

    def reason_to_leave_out(self, memory: Memory) -> LeftOutReason | None:
        """Return why no prompt carries this memory, however new it is; None where nothing forbids it."""
        if memory.held_at:
            return LeftOutReason.HELD
        if memory.retired_at:
            return LeftOutReason.RETIRED
        if self.is_hidden and is_hideable(memory):
            return LeftOutReason.HIDDEN
        return self.left_out.get(memory.pk)

    def note_inside(self, memory: Memory) -> str:
        """Return what holds for a memory that stands in the prompt."""
        if self.since is None:
            return _("in the next prompt")
        if memory.deleted_at:
            return _("in the prompt until the session ends")
        if memory.updated_at > self.since:
            return _("in the prompt with its older words")
        return _("in the prompt")


NOTES = {
    LeftOutReason.OLDER: gettext_lazy("left out: older than the newest 50"),
    LeftOutReason.HIDDEN: gettext_lazy("left out: memories about you are switched off in your profile"),
    LeftOutReason.HELD: gettext_lazy("left out: held by the guard"),
    LeftOutReason.RETIRED: gettext_lazy("left out: retired"),
    LeftOutReason.EQUAL: gettext_lazy("left out: said by another"),
    LeftOutReason.CONFLICT: gettext_lazy("left out: in conflict"),
    LeftOutReason.LIMIT: gettext_lazy("left out: against a limit"),
}


def is_hideable(memory: Memory) -> bool:
    """Say whether its owner's switch hides this memory."""
    return memory.category == Category.PERSONALIZATION or memory.fact_state == FactState.SETTLED


def load_prompt_use(owner: Owner) -> PromptUse:
    """Return what the agent of this owner reads. One query with a running session, else four."""
    if not isinstance(owner, User):
        return PromptUse()
    # The snapshot is a table of profile_app, which stands above this app: reached by its name, never imported.
    running = Session.objects.for_owner(owner).open().filter(snapshot__isnull=False)
    columns = ("snapshot__memory_ids", "snapshot__left_out", "created_at")
    newest = running.order_by("-created_at", "-id").values_list(*columns).first()
    if newest is None:
        is_hidden = hides_memories(owner)
        pairs = OPEN_PAIRS.ask(owner_id=owner.pk)
        carried, left_out = load_prompt_ids(owner=owner, is_hidden=is_hidden, pairs=pairs)
        return PromptUse(carried, is_known=True, is_hidden=is_hidden, left_out=left_out, pairs=pairs)
    ids, counted, since = newest
    left_out = {pk: LeftOutReason(reason) for reason, _count, *named in counted for pk in chain(*named)}
    is_hidden = any(reason == LeftOutReason.HIDDEN for reason, *_count in counted)
    return PromptUse(frozenset(ids), since, is_known=True, is_hidden=is_hidden, left_out=left_out)


def count_label(rows: QuerySet[Memory], reading: PromptUse) -> str:
    """Return how many rows of a list stand in the prompt, empty when unknown. One query."""
    if not reading.is_known:
        return ""
    count = rows.filter(pk__in=reading.ids).count()
    return ngettext("%(count)d is in the prompt", "%(count)d are in the prompt", count) % {"count": count}


def prompt_line(memory: Memory) -> str:
    """Return the line by which a prompt carries this memory. One query for a limit."""
    for limit in load_limits(memory.owner_id) if memory.is_hard else ():
        if memory.pk in limit.memory_ids:
            return limit.line
    return memory_line(MemoryRow(memory.pk, memory.category, memory.content, memory.updated_at))


def explain(memory: Memory) -> dict[str, Any]:
    """Return where a memory comes from and why the agent does or does not read it, as the API answers."""
    reading, line = load_prompt_use(memory.owner), prompt_line(memory)
    return {
        "id": memory.pk,
        "source": memory.source,
        "actor": memory.actor,
        "origin": memory.origin,
        "content_hash": memory.content_hash,
        "version": memory.version,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "is_editable": memory.is_editable,
        "rules_version": memory.rules_version,
        "held": find_held(MEMORY_KIND, memory),
        "in_prompt": memory.pk in reading.ids,
        "note": reading.note(memory),
        "prompt_line": line,
        "tokens": estimate_tokens(line),
    }
