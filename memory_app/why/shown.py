"""Why a memory is there, in words: the steps that led to it, and what the page and the API tell of each search."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.edges.models import MemoryEdge
from memory_app.facts.core import Decider, EventKind
from memory_app.facts.words import EVENTS, reason_words
from memory_app.memories.core import MEMORY_ORIGIN, State
from memory_app.memories.models import Memory
from memory_app.why.core import Door
from memory_app.why.selectors import Belief, Decided, Found, is_judged_today
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import IMPORT_ORIGIN
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.labels import SENTENCES
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.guard.models import Decision
from minara_site.kernel.plain_text import parse_number
from minara_site.web.moments import cost_words
from minara_site.web.words import sentences

TOOL_ORIGIN = "tool:"

IT_WENT: Mapping[str, str | Promise] = {
    EventKind.SETTLED: gettext_lazy("Settled as a fact of its own"),
    EventKind.DEDUPLICATED: gettext_lazy("Retired: an older fact says the same"),
    EventKind.SUPERSEDED: gettext_lazy("Retired: another fact replaces it"),
    EventKind.CONFLICT_FOUND: gettext_lazy("Found to contradict another fact"),
    EventKind.KEPT_BOTH: gettext_lazy("Kept beside another fact: both hold"),
    EventKind.UNRETIRED: gettext_lazy("Brought back"),
    EventKind.REOPENED: EVENTS[EventKind.REOPENED],
    EventKind.REFUSED: gettext_lazy("Not retired: a rule forbids it"),
}
THE_OTHER_WENT: Mapping[str, str | Promise] = {
    EventKind.DEDUPLICATED: gettext_lazy("Merged: a newer fact that says the same was retired"),
    EventKind.SUPERSEDED: gettext_lazy("Replaced another fact, which was retired"),
    EventKind.UNRETIRED: gettext_lazy("The fact that it had replaced was brought back"),
    EventKind.REFUSED: gettext_lazy("Did not replace another fact: a rule forbids it"),
}
DECIDERS: Mapping[str, str | Promise] = {
    Decider.RULE: gettext_lazy("by rule"),
    Decider.MODEL: gettext_lazy("by a model"),
}
DOORS: Mapping[str, str | Promise] = {
    Door.PAGE: gettext_lazy("the search page"),
    Door.API: gettext_lazy("the HTTP API"),
    Door.TOOL: gettext_lazy("an agent's tool"),
    Door.MCP: gettext_lazy("an agent over MCP"),
    Door.COMMAND: gettext_lazy("the command line"),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened to a memory; `other` is the memory that it names, `tone` the look of its dot."""

    at: datetime
    text: str
    tone: str = ""
    other_id: int | None = None
    other: Memory | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A search as its reader may see it. `query` is None where it is not theirs to read."""

    found: Found
    who: str
    where: str
    query: str | None


def steps_of(memory: Memory, belief: Belief, *, names: Mapping[str, str], reader: User) -> list[Step]:
    """Return what happened to a memory, the oldest first; those of one moment in the order of their cause."""
    corrects = parse_number(memory.origin, after=MEMORY_ORIGIN)
    other = shown_other(corrects, belief, reader)
    written = Step(memory.created_at, written_words(memory, names), "t-person", corrects, other)
    steps = [written, *guard_steps(memory, belief, names)]
    steps += [decision_step(each, memory, belief, names, reader) for each in reversed(belief.decisions)]
    return sorted(steps, key=lambda step: step.at)


def written_words(memory: Memory, names: Mapping[str, str]) -> str:
    """Return who wrote a memory, and out of what."""
    who = _("Written by %(name)s") % {"name": names[memory.actor]}
    origin = origin_words(memory.origin)
    return f"{who}{_(', ')}{origin}" if origin else who


def origin_words(origin: str) -> str:
    """Return out of what a memory was written; empty when nobody recorded it or it stands beside."""
    if origin.startswith(IMPORT_ORIGIN):
        return _("out of the file %(file)s") % {"file": origin.removeprefix(IMPORT_ORIGIN)}
    if origin.startswith(TOOL_ORIGIN):
        return _("with the tool %(tool)s") % {"tool": origin.removeprefix(TOOL_ORIGIN)}
    return _("to correct another") if origin.startswith(MEMORY_ORIGIN) else origin


def guard_steps(memory: Memory, belief: Belief, names: Mapping[str, str]) -> list[Step]:
    """Return what the guard said, and what a person decided about it."""
    hold = belief.hold
    if hold is None:
        is_held = memory.state is State.HELD
        return [] if is_held else [Step(memory.created_at, verdict_words(memory), "t-good")]
    steps = [Step(hold.held_at, sentences(_("Held by the guard."), str(SENTENCES[hold.reason])), "t-bad")]
    if hold.decision and hold.decided_at:
        told = {
            Decision.RELEASED: _("Released by %(name)s"),
            Decision.DISCARDED: _("Thrown away by %(name)s"),
            Decision.REPLACED: _("A later text took the place of the held one, by %(name)s"),
        }[Decision(hold.decision)] % {"name": names.get(hold.decided_by, hold.decided_by)}
        steps.append(Step(hold.decided_at, told, "t-person", note=hold.note))
    return steps


def verdict_words(memory: Memory) -> str:
    """Return what the guard says of a memory that it lets in."""
    if not memory.rules_version:
        return _("Not judged by the guard yet")
    if is_judged_today(memory):
        return _("Scan clean: no instruction-like text, no hidden characters, no secrets")
    return _("Scan clean by older rules; today's rules judge it again")


def decision_step(each: Decided, memory: Memory, belief: Belief, names: Mapping[str, str], reader: User) -> Step:
    """Return a decision about a fact as a step."""
    words = (IT_WENT if each.is_about_it else THE_OTHER_WENT).get(each.kind) or IT_WENT[each.kind]
    by = decided_by(each, names)
    text = f"{words}{_(', ')}{by}"
    if each.is_undone:
        text += _(", since undone")
    other = shown_other(each.other_id, belief, reader)
    return Step(each.at, text, "t-read", each.other_id, other, reason_of(each, memory, reader))


def decided_by(each: Decided, names: Mapping[str, str]) -> str:
    """Return who decided: a rule, a model by its name and what it cost, or a person."""
    if each.verdict:
        words = {"model": each.verdict.model, "cost": cost_words(each.verdict.cost_usd)}
        return _("by the model %(model)s for %(cost)s") % words
    return str(DECIDERS.get(each.decider) or _("by %(name)s") % {"name": names.get(each.actor, each.actor)})


def reason_of(each: Decided, memory: Memory, reader: User) -> str:
    """Return why something was decided; of somebody else's facts, secrets in a model's sentence are masked."""
    if not each.verdict:
        return reason_words(each.reason)
    reason = reason_words(each.verdict.reason)
    return reason if memory.owner_id == reader.pk else mask(reason)


def shown_other(memory_id: int | None, belief: Belief, reader: User) -> Memory | None:
    """Return another memory as this reader may see it, None when there is none to open."""
    other = belief.others.get(memory_id or 0)
    return masked_for(reader, other) if other else None


def conflict_rows(belief: Belief, *, reader: User) -> list[tuple[int, Memory | None]]:
    """Return the facts that may contradict it, each as this reader may see it, None when it is gone."""
    return [(pk, shown_other(pk, belief, reader)) for pk in belief.conflicts]


def found_rows(memory: Memory, belief: Belief, *, names: Mapping[str, str], principal: Principal) -> list[FoundRow]:
    """Return the searches that returned a memory, as this reader may see them."""
    return [
        FoundRow(
            each,
            names.get(each.actor, each.actor),
            str(DOORS.get(each.door, each.door)),
            query_for(memory, each, principal),
        )
        for each in belief.found.rows
    ]


def query_for(memory: Memory, found: Found, principal: Principal) -> str | None:
    """Return what was asked, None when that is not this reader's to know: who searches everybody's asks for others."""
    if found.owner_id != memory.owner_id and not principal.is_operator:
        return None
    return found.query if found.owner_id == principal.owner.pk else mask(found.query)


def belief_record(memory: Memory, belief: Belief, *, names: Mapping[str, str], principal: Principal) -> dict[str, Any]:
    """Return a belief as the API answers it. What an agent reads passes the guard: what it refuses is left empty."""
    hold, change = belief.hold, belief.change
    rows = found_rows(memory, belief, names=names, principal=principal)
    return {
        "writer": names[memory.actor],
        "reasoning": guarded(belief.reasoning),
        "is_judged_by_todays_rules": is_judged_today(memory),
        "released_by": names.get(hold.decided_by) if hold and hold.decision == Decision.RELEASED else None,
        "decisions": [decision_record(each) for each in belief.decisions],
        "conflicts": belief.conflicts,
        "edges": [edge_record(each) for each in belief.edges],
        "carried_by": counted(
            belief.carried, [{"session": each.session_id, "at": each.frozen_at} for each in belief.carried.rows]
        ),
        "found_by": counted(belief.found, [found_record(row) for row in rows]),
        "without_it": {
            "prompt_changes": change is not None,
            "moves_up": [row.id for row in change.moves_up] if change else [],
            "assets": belief.assets,
            "retired_in_its_favour": belief.replaced,
        },
    }


def counted(newest: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the newest of many with how many there are."""
    return {"count": newest.count.number, "is_exact": newest.count.is_exact, "newest": rows}


def decision_record(each: Decided) -> dict[str, Any]:
    """Return a decision as the API answers it."""
    return {
        "at": each.at,
        "kind": each.kind,
        "decider": each.decider,
        "actor": each.actor,
        "other": each.other_id,
        "is_about_it": each.is_about_it,
        "is_undone": each.is_undone,
        "reason": guarded(each.reason),
    }


def edge_record(edge: MemoryEdge) -> dict[str, Any]:
    """Return an edge as the API answers it."""
    return {
        "type": edge.edge_type,
        "kind": edge.dst_entity_kind,
        "key": edge.dst_entity_key,
        "weight": edge.weight,
    }


def found_record(row: FoundRow) -> dict[str, Any]:
    """Return a search as the API answers it."""
    query = None if row.query is None else guarded(row.query)
    return {
        "at": row.found.at,
        "rank": row.found.rank,
        "door": row.found.door,
        "actor": row.found.actor,
        "query": query,
    }


def guarded(text: str) -> str:
    """Return a text that an agent may read, empty where the guard refuses it."""
    return "" if text and guard.judge(text).is_held else text


def masked_change(belief: Belief, *, reader: User, owner_id: int) -> Belief:
    """Return a belief whose prompt lines show somebody else no secret of its owner."""
    if belief.change is None or reader.pk == owner_id:
        return belief
    moves_up = tuple(replace(row, content=mask(row.content)) for row in belief.change.moves_up)
    return replace(belief, change=replace(belief.change, moves_up=moves_up))
