"""The tools `personalization_snapshot` and `search_conversation_memory`. Source: S3 (on-demand recall)."""

from typing import Annotated, Any

from pydantic import Field

from memory_app.index.core.parser import MAX_QUERY_CHARS
from memory_app.memories.hidden import hides_memories
from memory_app.search.selectors import search_memories
from memory_app.search.tools import answer_hits
from minara_site.access.principal import Principal
from minara_site.web.schemas import Strict
from profile_app.portrait.selectors.profile import agent_record

HIDDEN_NOTE = "The user keeps these memories out of prompts (Profile, include_memories): nothing is searched."


class SnapshotArgs(Strict):
    """personalization_snapshot takes no arguments."""


class SearchArgs(Strict):
    """Arguments of search_conversation_memory."""

    query: Annotated[
        str,
        Field(
            description='Words (any of them), "exact phrase", prefix*, AND, OR, NOT. '
            f"The first {MAX_QUERY_CHARS} characters count."
        ),
    ]
    limit: Annotated[int, Field(ge=1, le=200, description="How many, best match first.")] = 10


def personalization_snapshot(
    principal: Principal,
    args: SnapshotArgs,
    *,
    reasoning: str,
) -> dict[str, Any]:
    """Return the portrait of the owner, without what they keep out of prompts."""
    return agent_record(principal.owner, reader=principal.owner)


def search_conversation_memory(
    principal: Principal,
    args: SearchArgs,
    *,
    reasoning: str,
) -> dict[str, Any]:
    """Return the personalization memories and settled facts that a query finds, best match first."""
    owner = principal.owner
    if hides_memories(owner):
        return {"items": [], "notes": [HIDDEN_NOTE]}
    found = search_memories(
        owner=owner,
        query=args.query,
        limit=args.limit,
        is_personal=True,
    )
    return answer_hits(principal, owner, args.query, found)
