"""Lasting facts out of turns, each with the turn and the words that say it. Source: S3 (memory rebuild)."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from learning_app.learnings.core import turn_origin
from memory_app.memories.core import MEMORY_KIND
from memory_app.memories.services import Draft, build_memory, insert_memories
from minara_site.access.models import User
from minara_site.kernel.changes.core import Step
from minara_site.kernel.changes.kinds import changes_of
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.core.fence import fence_text
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Invalid
from profile_app.portrait.models import FinancialProfile
from profile_app.rebuild.core import Flow, render
from profile_app.rebuild.core.memories import (
    CONTEXT_CHARS,
    MAX_TOKENS,
    SLICE_CHARS,
    SYSTEM,
    FoundFacts,
    choose_facts,
    key_of,
    label_of,
)
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import (
    find_wrong_keys,
    has_unread_turns,
    list_known,
    list_wrong_memories,
    load_slice,
)
from profile_app.rebuild.services.work import Work, Written

MAX_TOLD = 60  # of what is known, in the question


def read(owner: User, profile: FinancialProfile, *, now: datetime, is_forced: bool) -> Work[FoundFacts] | None:
    """Return the question about the next turns, None where none is unread."""
    cursor = int(profile.last_indexed_chat_id or 0)
    turns = load_slice(owner, cursor)
    if not turns:
        return None
    data = {
        "turns": [
            {
                "turn": number,
                "user": fence_text(redact_text(turn.user_message[:SLICE_CHARS])),
                "agent": fence_text(redact_text(turn.assistant_message[:CONTEXT_CHARS])),
            }
            for number, turn in enumerate(turns, 1)
        ],
        "known": [fence_text(redact_text(memory.content)) for memory in list_known(owner)[:MAX_TOLD]],
        "wrong": [fence_text(text) for text in list_wrong_memories(owner)],
    }
    last = turns[-1].pk
    return Work(
        system=SYSTEM,
        content=render(data),
        answer=FoundFacts,
        max_tokens=MAX_TOKENS,
        read={"turns": len(turns), "first_turn": turns[0].pk, "last_turn": last},
        before={"last_indexed_chat_id": profile.last_indexed_chat_id},
        after={"last_indexed_chat_id": str(last)},
        write=partial(write, owner=owner, turns=turns),
        wakes=(Flow.TAGS,),
        has_more=has_unread_turns(owner.pk, last),
    )


def write(run: RebuildRun, answer: FoundFacts, *, now: datetime, owner: User, turns: Sequence[Turn]) -> Written:
    """Store the facts that are said, new, and not called wrong; the guard judges each. Needs a transaction."""
    said = {number: redact_text(turn.user_message) for number, turn in enumerate(turns, 1)}
    known = {key_of(memory.content) for memory in list_known(owner)}
    facts, dropped = choose_facts(answer, said, known=known, wrong=find_wrong_keys(owner))
    rows, counts = [], dict(dropped)
    for fact in facts:
        turn = turns[fact.turn - 1]
        draft = Draft(
            category=Category.PERSONALIZATION,
            content=fact.statement,
            provenance=Provenance(
                Source.INFERRED, Flow.MEMORIES.actor, origin=turn_origin(turn.session_id, turn.sequence)
            ),
            fact_type=label_of(fact.fact_type),
            metadata={"run": run.pk, "turn": turn.pk, "quote": fact.quote},
        )
        try:
            rows.append((build_memory(owner_id=owner.pk, draft=draft, now=now), turn))
        except Invalid:
            counts["invalid"] = counts.get("invalid", 0) + 1
    if held := insert_memories([row for row, _turn in rows], owner_id=owner.pk, now=now) if rows else 0:
        counts["held"] = held
    facet = changes_of()[MEMORY_KIND]
    steps = [Step(MEMORY_KIND, str(row.pk), row, owner.pk, {}, facet.state_of(row)) for row, _turn in rows]
    lines = [
        {"kind": MEMORY_KIND, "key": str(row.pk), "name": "", "hash": key_of(row.content), "turn": turn.pk}
        for row, turn in rows
    ]
    return Written(steps, lines, counts)
