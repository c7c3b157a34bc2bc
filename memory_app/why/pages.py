"""Why a memory is there, in words: the steps that led to it, and what the page and the API tell of each search."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.labels import EVENTS, REPEATED, reason_label
from memory_app.memories.conflicts import mark_record
from memory_app.memories.core import MEMORY_ORIGIN, State
from memory_app.memories.models import Memory
from memory_app.search.core.surfaces import Surface
from memory_app.why.selectors import FactEvent, SearchUse, WhyReport, is_judged_today
from minara_site.access.actors import name_writers
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.core.vocabulary import BROUGHT_IN, IMPORT_ORIGIN, RUN_ORIGIN
from minara_site.kernel.governance.subjects import subject_label, subject_url
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.labels import SENTENCES
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.guard.models import Decision
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.turns import turn_link
from minara_site.web.labels import sentences
from minara_site.web.moments import cost_label

TOOL_ORIGIN = "tool:"

RETIRED: Mapping[str, str | Promise] = {
    EventKind.SETTLED: gettext_lazy("Settled as a fact of its own"),
    EventKind.DEDUPLICATED: gettext_lazy("Retired: an older fact says the same"),
    EventKind.SUPERSEDED: gettext_lazy("Retired: another fact replaces it"),
    EventKind.CONFLICT_FOUND: gettext_lazy("Found to contradict another fact"),
    EventKind.KEPT_BOTH: gettext_lazy("Kept with another fact: both are valid"),
    EventKind.UNRETIRED: gettext_lazy("Brought back"),
    EventKind.REOPENED: EVENTS[EventKind.REOPENED],
    EventKind.REFUSED: gettext_lazy("Not retired: a rule forbids it"),
}
OTHER_RETIRED: Mapping[str, str | Promise] = {
    EventKind.DEDUPLICATED: gettext_lazy("Merged: a newer fact that says the same was retired"),
    EventKind.SUPERSEDED: gettext_lazy("Replaced another fact, which was retired"),
    EventKind.UNRETIRED: gettext_lazy("The fact that it had replaced was brought back"),
    EventKind.REFUSED: gettext_lazy("Did not replace another fact: a rule forbids it"),
}
DECIDERS: Mapping[str, str | Promise] = {
    Decider.RULE: gettext_lazy("by rule"),
    Decider.MODEL: gettext_lazy("by a model"),
}
SURFACES: Mapping[str, str | Promise] = {
    Surface.PAGE: gettext_lazy("the search page"),
    Surface.API: gettext_lazy("the HTTP API"),
    Surface.TOOL: gettext_lazy("an agent's tool"),
    Surface.MCP: gettext_lazy("an agent over MCP"),
    Surface.COMMAND: gettext_lazy("the command line"),
}


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One thing that happened to a memory; `other` is the memory that it names, `tone` the look of its dot.

    `preference_id` is the preference that the memory stands for, `links` are labels with their pages, empty without.
    """

    at: datetime
    text: str
    tone: str = ""
    other_id: int | None = None
    other: Memory | None = None
    note: str = ""
    preference_id: int | None = None
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A search as its reader may see it. `query` is None where it is not theirs to read."""

    found: SearchUse
    who: str
    where: str
    query: str | None


def steps_of(
    memory: Memory,
    report: WhyReport,
    *,
    names: Mapping[str, str],
    reader: User,
) -> list[TimelineEvent]:
    """Return what happened to a memory, the oldest first; those of one moment in the order of their cause."""
    corrects = parse_number(memory.origin, after=MEMORY_ORIGIN)
    other = shown_other(corrects, report, reader)
    words, origin = _("Written by %(name)s"), origin_label(memory)
    links, quote = taken_from(memory, reader)
    if memory.badge == BROUGHT_IN:
        words = _("Brought in by %(name)s")
    words %= {"name": names[memory.actor]}
    words = f"{words}{_(', ')}{origin}" if origin else words
    tone = "t-read" if memory.preference_id else "t-person"
    written = TimelineEvent(
        memory.created_at,
        words,
        tone,
        corrects,
        other,
        quote,
        memory.preference_id,
        links,
    )
    steps = [written, *guard_steps(memory, report, names)]
    steps += [decision_step(each, memory, report, names, reader) for each in reversed(report.decisions)]
    return sorted(steps, key=lambda step: step.at)


def origin_label(memory: Memory) -> str:
    """Return out of what a memory was written; empty when nobody recorded it or it stands beside."""
    origin = memory.origin
    if memory.preference_id:
        return _("because a preference was approved")
    if origin.startswith(IMPORT_ORIGIN):
        return _("out of the file %(file)s") % {"file": origin.removeprefix(IMPORT_ORIGIN)}
    if origin.startswith(TOOL_ORIGIN):
        return _("with the tool %(tool)s") % {"tool": origin.removeprefix(TOOL_ORIGIN)}
    if turn_link(origin)[0]:
        return _("out of what was said")
    return _("to correct another") if origin.startswith(MEMORY_ORIGIN) else origin


def taken_from(memory: Memory, reader: User) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the turn and the rebuild that a memory came out of, with their pages, and the words that say it there."""
    turn = turn_link(memory.origin)
    if not turn[0]:
        return (), ""
    said, is_own = memory.metadata or {}, memory.owner_id == reader.pk
    run, quote = f"{RUN_ORIGIN}{said.get('run')}", str(said.get("quote", ""))
    owner_name = "" if is_own else memory.owner.get_username()
    links = (turn, (subject_label(run), subject_url(run, owner_name))) if "run" in said else (turn,)
    return links, quote if is_own else mask(redact_text(quote))


def guard_steps(
    memory: Memory,
    report: WhyReport,
    names: Mapping[str, str],
) -> list[TimelineEvent]:
    """Return what the guard said, and what a person decided about it."""
    hold = report.hold
    if hold is None:
        is_held = memory.state is State.HELD
        return [] if is_held else [TimelineEvent(memory.created_at, verdict_label(memory), "t-good")]
    steps = [
        TimelineEvent(
            hold.held_at,
            sentences(_("Held by the guard."), str(SENTENCES[hold.reason])),
            "t-bad",
        )
    ]
    if hold.decision and hold.decided_at:
        told = {
            Decision.RELEASED: _("Released by %(name)s"),
            Decision.DISCARDED: _("Discarded by %(name)s"),
            Decision.REPLACED: _("A later text took the place of the held one, by %(name)s"),
        }[Decision(hold.decision)] % {"name": names.get(hold.decided_by, hold.decided_by)}
        steps.append(TimelineEvent(hold.decided_at, told, "t-person", note=hold.note))
    return steps


def verdict_label(memory: Memory) -> str:
    """Return what the guard says of a memory that it lets in."""
    if not memory.rules_version:
        return _("Not judged by the guard yet")
    if is_judged_today(memory):
        return _("Scan clean: no instruction-like text, no hidden characters, no secrets")
    return _("Scan clean by older rules; today's rules check its text again")


def decision_step(
    each: FactEvent,
    memory: Memory,
    report: WhyReport,
    names: Mapping[str, str],
    reader: User,
) -> TimelineEvent:
    """Return a decision about a fact as a step."""
    words = (RETIRED if each.is_about_it else OTHER_RETIRED).get(each.kind) or RETIRED[each.kind]
    if each.kind == EventKind.DEDUPLICATED and each.other_id is None:
        words = REPEATED
    by = decided_by(each, names)
    text = f"{words}{_(', ')}{by}"
    if each.is_undone:
        text += _(", since undone")
    other = shown_other(each.other_id, report, reader)
    reason = reason_label(each.verdict.reason if each.verdict else each.reason)
    if each.verdict and memory.owner_id != reader.pk:  # a model's sentence may hold secrets
        reason = mask(reason)
    return TimelineEvent(each.at, text, "t-read", each.other_id, other, reason)


def decided_by(each: FactEvent, names: Mapping[str, str]) -> str:
    """Return who decided: a rule, a model by its name and what it cost, or a person."""
    if each.verdict:
        words = {"model": each.verdict.model, "cost": cost_label(each.verdict.cost_usd)}
        return _("by the model %(model)s for %(cost)s") % words
    return str(DECIDERS.get(each.decider) or _("by %(name)s") % {"name": names.get(each.actor, each.actor)})


def shown_other(
    memory_id: int | None,
    report: WhyReport,
    reader: User,
) -> Memory | None:
    """Return another memory as this reader may see it, None when there is none to open."""
    other = report.others.get(memory_id or 0)
    return masked_for(reader, other) if other else None


def found_rows(
    memory: Memory,
    report: WhyReport,
    *,
    names: Mapping[str, str],
    principal: Principal,
) -> list[FoundRow]:
    """Return the searches that returned a memory, as this reader may see them."""
    return [
        FoundRow(
            each,
            names.get(each.actor, each.actor),
            str(SURFACES.get(each.door, each.door)),
            query_for(memory, each, principal),
        )
        for each in report.found.rows
    ]


def query_for(memory: Memory, found: SearchUse, principal: Principal) -> str | None:
    """Return what was asked, None when that is not this reader's to know: who searches everybody's asks for others."""
    if found.owner_id != memory.owner_id and not principal.is_operator:
        return None
    return found.query if found.owner_id == principal.owner.pk else mask(found.query)


def report_record(
    memory: Memory,
    report: WhyReport,
    *,
    names: Mapping[str, str],
    principal: Principal,
) -> dict[str, Any]:
    """Return a report as the API answers it. What an agent reads passes the guard: what it refuses is left empty."""
    hold, change = report.hold, report.change
    searches = [
        {
            "at": row.found.at,
            "rank": row.found.rank,
            "door": row.found.door,
            "actor": row.found.actor,
            "query": None if row.query is None else guarded(row.query),
        }
        for row in found_rows(memory, report, names=names, principal=principal)
    ]
    return {
        "writer": name_writers([memory], reader=principal.owner)[0],
        "reasoning": guarded(report.reasoning),
        "is_judged_by_todays_rules": is_judged_today(memory),
        "released_by": names.get(hold.decided_by) if hold and hold.decision == Decision.RELEASED else None,
        "decisions": [decision_record(each) for each in report.decisions],
        "conflicts": report.conflicts,
        "conflict": None,
        **mark_record(report.mark),
        "edges": [
            {
                "type": edge.edge_type,
                "kind": edge.dst_entity_kind,
                "key": edge.dst_entity_key,
                "weight": edge.weight,
            }
            for edge in report.edges
        ],
        "carried_by": counted(
            report.carried,
            [{"session": each.session_id, "at": each.frozen_at} for each in report.carried.rows],
        ),
        "found_by": counted(report.found, searches),
        "without_it": {
            "prompt_changes": change is not None,
            "moves_up": [row.id for row in change.moves_up] if change else [],
            "assets": report.assets,
            "retired_in_its_favour": report.replaced,
        },
    }


def counted(newest: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the newest of many with how many there are."""
    return {
        "count": newest.count.number,
        "is_exact": newest.count.is_exact,
        "newest": rows,
    }


def decision_record(each: FactEvent) -> dict[str, Any]:
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


def guarded(text: str) -> str:
    """Return a text that an agent may read, empty where the guard refuses it."""
    return "" if text and guard.judge(text).is_held else text


def mask_change(report: WhyReport, *, reader: User, owner_id: int) -> WhyReport:
    """Return a report whose prompt lines show somebody else no secret of its owner."""
    if report.change is None or reader.pk == owner_id:
        return report
    moves_up = tuple(replace(row, content=mask(row.content)) for row in report.change.moves_up)
    return replace(report, change=replace(report.change, moves_up=moves_up))
