"""Lasting facts out of turns, each with the turn and the words that say it. Source: S3 (memory rebuild)."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from learning_app.learnings.core import turn_origin
from memory_app.memories.core import HARD_CONSTRAINT, MEMORY_KIND
from memory_app.memories.services import Draft, build_memory, insert_memories
from minara_site.access.models import User
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Invalid
from profile_app.portrait.models import FinancialProfile
from profile_app.rebuild.core import Flow, quoted, render
from profile_app.rebuild.core.memories import (
    CONTEXT_CHARS,
    MAX_TOKENS,
    SLICE_CHARS,
    SYSTEM,
    FoundFacts,
    choose_facts,
    key_of,
)
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import find_wrong_keys, list_known, list_wrong_memories, load_slice
from profile_app.rebuild.services.work import Work, Written

MAX_TOLD = 60  # of what is known, in the question


def read(owner: User, profile: FinancialProfile, *, now: datetime, is_forced: bool) -> Work | None:
    """Return the question about the next turns, None where none is unread."""
    turns, has_more = load_slice(owner, int(profile.last_indexed_chat_id or 0))
    if not turns:
        return None
    data = {
        "turns": [
            {
                "turn": number,
                "user": quoted(turn.user_message[:SLICE_CHARS]),
                "agent": quoted(turn.assistant_message[:CONTEXT_CHARS]),
            }
            for number, turn in enumerate(turns, 1)
        ],
        "known": [quoted(text) for text in list_known(owner)[:MAX_TOLD]],
        "wrong": [quoted(text) for text in list_wrong_memories(owner)],
    }
    return Work(
        system=SYSTEM,
        content=render(data),
        answer=FoundFacts,
        max_tokens=MAX_TOKENS,
        read={"turns": len(turns), "first_turn": turns[0].pk, "last_turn": turns[-1].pk},
        write=partial(write, turns=turns),
        before={"last_indexed_chat_id": profile.last_indexed_chat_id},
        after={"last_indexed_chat_id": str(turns[-1].pk)},
        has_more=has_more,
    )


def write(run: RebuildRun, answer: FoundFacts, *, now: datetime, turns: Sequence[Turn]) -> Written:
    """Store the facts that are said, new, and not called wrong; the guard judges each. Needs a transaction."""
    said = {number: redact_text(turn.user_message) for number, turn in enumerate(turns, 1)}
    known = {key_of(text) for text in list_known(run.owner)}
    facts, dropped = choose_facts(answer, said, known=known, wrong=find_wrong_keys(run.owner))
    rows = []
    for fact in facts:
        turn, label = turns[fact.turn - 1], fact.fact_type.strip().lower()
        origin = turn_origin(turn.session_id, turn.sequence)
        draft = Draft(
            category=Category.PERSONALIZATION,
            content=fact.statement,
            provenance=Provenance(Source.INFERRED, Flow.MEMORIES.actor, origin=origin),
            fact_type="" if label == HARD_CONSTRAINT else label,  # a rebuild never makes a limit
            metadata={"run": run.pk, "turn": turn.pk, "quote": fact.quote},
        )
        try:
            rows.append(build_memory(owner_id=run.owner_id, draft=draft, now=now))
        except Invalid:
            dropped["invalid"] += 1
    if rows and (held := insert_memories(rows, owner_id=run.owner_id, now=now)):
        dropped["held"] = held
    run.dropped = dropped
    return [({"kind": MEMORY_KIND, "key": str(row.pk), "hash": key_of(row.content)}, row, {}) for row in rows]
