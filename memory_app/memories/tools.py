"""The tools by which an agent writes, reads and takes back memories during a turn. Source: S1 (the write path)."""

from typing import Annotated, Any

from django.utils import timezone
from pydantic import Field

from memory_app.memories.core import MAX_CONTENT_CHARS, MEMORY_KIND
from memory_app.memories.proposals import propose_again, propose_delete, propose_edit
from memory_app.memories.selectors import memory_answer, memory_records, read_memories
from memory_app.memories.services import (
    MAX_REASON_CHARS,
    Changes,
    Draft,
    agent_source,
    delete_memories,
    edit_memory,
    record_fact,
    write_memory,
)
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import Category, Provenance
from minara_site.kernel.guard.selectors import written_record
from minara_site.kernel.plain_text import clean_text
from minara_site.kernel.proposals.services import proposal_record
from minara_site.web.schemas import Strict

MemoryId = Annotated[int, Field(strict=True, ge=1, le=2**63 - 1, description="The id of the memory.")]


class MemoryWriteArgs(Strict):
    """Arguments of memory_write."""

    category: Annotated[Category, Field(description="What kind of memory this is; a durable user fact is `fact`.")]
    content: Annotated[str, Field(description="One statement, 1 to 4000 characters. No secrets.")]
    metadata: Annotated[
        dict[str, Any] | None, Field(description="Optional notes; `source` may be user_explicit or chat_extracted.")
    ] = None


class MemoryReadArgs(Strict):
    """Arguments of memory_read."""

    category: Annotated[Category | None, Field(description="Only this category; leave out for all.")] = None
    limit: Annotated[int, Field(ge=1, le=200, description="How many, newest change first.")] = 20


def memory_write(
    principal: Principal,
    args: MemoryWriteArgs,
    *,
    reasoning: str,
) -> dict[str, Any]:
    """Store a memory for later sessions; the running prompt does not change. `held` says that the guard holds it.

    The same again by one writer is the row that stands, `seen` once more. What its user deleted is only proposed.
    """
    now = timezone.now()
    draft = Draft(
        category=args.category,
        content=clean_text(args.content, field="content", max_chars=MAX_CONTENT_CHARS),
        provenance=Provenance(
            agent_source(args.metadata),
            principal.actor,
            origin="tool:memory_write",
        ),
        metadata=args.metadata,
    )
    if proposal := propose_again(principal=principal, draft=draft, reason=reasoning, now=now):
        return {"id": int(proposal.key), "proposed": proposal_record(proposal)}
    write = record_fact if args.category is Category.FACT else write_memory
    memory = write(owner_id=principal.owner.pk, draft=draft, now=now, reasoning=reasoning)
    return memory_answer(memory)


class MemoryRetractArgs(Strict):
    """Arguments of memory_retract."""

    id: MemoryId
    reason: Annotated[str, Field(max_length=MAX_REASON_CHARS, description="Why, for the person who reads it.")]


class MemoryCorrectArgs(Strict):
    """Arguments of memory_correct."""

    id: MemoryId
    content: Annotated[str, Field(description="The whole statement as it is right, 1 to 4000 characters. No secrets.")]


def memory_retract(
    principal: Principal,
    args: MemoryRetractArgs,
    *,
    reasoning: str,
) -> dict[str, Any]:
    """Move what a key wrote to the trash, which its user can undo; of another's row it is proposed."""
    now = timezone.now()
    if proposal := propose_delete(principal=principal, memory_id=args.id, reason=args.reason, now=now):
        return {"id": args.id, "proposed": proposal_record(proposal)}
    delete_memories(
        principal=principal,
        owner=principal.owner,
        ids=[args.id],
        now=now,
        reason=args.reason,
    )
    return {"id": args.id, "deleted": True}


def memory_correct(
    principal: Principal,
    args: MemoryCorrectArgs,
    *,
    reasoning: str,
) -> dict[str, Any]:
    """Say right what a key wrote, as its next version, or held; of another's row it is proposed."""
    now, changes = timezone.now(), Changes(args.content)
    if proposal := propose_edit(principal=principal, memory_id=args.id, changes=changes, reason=reasoning, now=now):
        return {"id": args.id, "proposed": proposal_record(proposal)}
    memory = edit_memory(
        principal=principal,
        memory_id=args.id,
        changes=changes,
        now=now,
        reason=reasoning[:MAX_REASON_CHARS],
    )
    [record] = memory_records([memory], reader=principal.owner)
    return record | written_record(MEMORY_KIND, memory)


def memory_read(
    principal: Principal,
    args: MemoryReadArgs,
    *,
    reasoning: str,
) -> dict[str, Any]:
    """Return the newest memories of a category."""
    owner = principal.reads(Act.MEMORY_READ)
    rows = read_memories(owner=owner, category=args.category, limit=args.limit)
    return {"items": memory_records(rows, reader=principal.owner)}
