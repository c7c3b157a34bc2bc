"""Reads of why a memory is there: what was decided about it, where it was read, what would change without it.

Everything is bounded: the newest of each kind is shown, and counts stop.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar

from django.db.models import F, Q

from memory_app.edges.core import NodeKind
from memory_app.edges.models import MemoryEdge
from memory_app.edges.selectors import list_edges_of
from memory_app.facts.core import RETIRING
from memory_app.facts.models import ConsolidationEvent
from memory_app.memories.conflicts import ConflictMark, find_marks
from memory_app.memories.core import MEMORY_KIND, MEMORY_ORIGIN
from memory_app.memories.models import Memory
from memory_app.memories.prompt_rows import PromptChange, find_prompt_change
from memory_app.memories.selectors import find_reasoning, retention_cutoff
from memory_app.search.models import SearchLogHit
from memory_app.snapshot.models import SnapshotMemory
from minara_site.kernel.core.assets import classify
from minara_site.kernel.counts import RowCount
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.plain_text import parse_number

SHOWN = 20
MAX_COUNTED = 200

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class NewestRows(Generic[Row]):
    """The newest of many, and how many there are."""

    rows: tuple[Row, ...]
    count: RowCount

    @classmethod
    def of(cls, rows: list[Row]) -> "NewestRows[Row]":
        """Return what a query of at most `MAX_COUNTED + 1` rows found."""
        count = RowCount.of(len(rows), MAX_COUNTED)
        return cls(tuple(rows[:SHOWN]), count)


@dataclass(frozen=True, slots=True)
class FactEvent:
    """A decision of the general fact layer about this memory; `other` is the one that it was compared with.

    `is_about_it` is False where the decision was about the other one.
    """

    at: datetime
    kind: str
    decider: str
    actor: str
    reason: str
    other_id: int | None
    is_about_it: bool
    is_undone: bool
    verdict: "ModelVerdict | None" = None


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """What a model said when it decided, its name, and what that cost."""

    reason: str
    model: str
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class SessionUse:
    """A session whose prompt carried the memory."""

    session_id: str
    title: str
    frozen_at: datetime
    has_ended: bool


@dataclass(frozen=True, slots=True)
class SearchUse:
    """A search that returned the memory at this place; `owner_id` is whose memories were searched."""

    at: datetime
    rank: int
    door: str
    actor: str
    query: str
    owner_id: int


@dataclass(frozen=True, slots=True)
class WhyReport:
    """Why a memory is there and what hangs on it.

    `hold` is the newest hold of its text, decided or not. `others` are the memories that its origin, decisions and
    conflicts name, as far as they can still be opened. `change` is None while the next prompt does not carry it.
    """

    reasoning: str
    hold: Hold | None
    decisions: tuple[FactEvent, ...]
    conflicts: tuple[int, ...]
    mark: ConflictMark | None
    others: dict[int, Memory]
    edges: Sequence[MemoryEdge]
    carried: NewestRows[SessionUse]
    found: NewestRows[SearchUse]
    change: PromptChange | None

    @property
    def replaced(self) -> tuple[int, ...]:
        """The facts that were retired in its favour and still are."""
        went = [each for each in self.decisions if each.kind in RETIRING and not (each.is_about_it or each.is_undone)]
        named = dict.fromkeys(each.other_id for each in went if each.other_id in self.others)
        return tuple(pk for pk in named if self.others[pk].retired_at)

    @property
    def assets(self) -> tuple[str, ...]:
        """The assets whose compiled pages it stands on, each once, in order; what has no class has no page."""
        tickers = dict.fromkeys(edge.dst_entity_key for edge in self.edges if edge.dst_entity_kind == NodeKind.TICKER)
        return tuple(filter(classify, tickers))

    @property
    def actors(self) -> set[str]:
        """Whoever decided or searched."""
        deciders = {each.actor for each in self.decisions} | ({self.hold.decided_by} if self.hold else set())
        return (deciders | {each.actor for each in self.found.rows}) - {""}


def load_report(memory: Memory, *, now: datetime) -> WhyReport:
    """Return why a memory is there. Ten queries, however much hangs on it."""
    decisions, mark = list_decisions(memory), find_marks([memory.pk]).get(memory.pk)
    conflicts = mark.others[:SHOWN] if mark else ()
    corrected = parse_number(memory.origin, after=MEMORY_ORIGIN)
    named = ({each.other_id for each in decisions} | {*conflicts, corrected}) - {None}
    others = Memory.objects.for_owner(memory.owner).kept(retention_cutoff(now)).filter(pk__in=named)
    holds = Hold.objects.filter(
        kind=MEMORY_KIND,
        object_id=memory.pk,
        owner_id=memory.owner_id,
    )
    rows = SnapshotMemory.objects.filter(memory_id=memory.pk, session__owner=memory.owner_id)
    columns = rows.order_by("-frozen_at", "-pk").values_list(
        "session_id", "session__title", "frozen_at", "session__ended_at"
    )[: MAX_COUNTED + 1]
    return WhyReport(
        reasoning=find_reasoning(memory),
        hold=holds.order_by("-pk").first(),
        decisions=decisions,
        conflicts=conflicts,
        mark=mark,
        others={row.pk: row for row in others} if named else {},
        edges=list_edges_of(memory),
        carried=NewestRows.of([SessionUse(pk, title, at, ended_at is not None) for pk, title, at, ended_at in columns]),
        found=list_found(memory),
        change=find_prompt_change(owner=memory.owner, memory_id=memory.pk),
    )


def is_judged_today(memory: Memory) -> bool:
    """Say whether the guard's verdict on it is by today's rules."""
    return memory.rules_version == guard.RULES.version


def list_decisions(memory: Memory) -> tuple[FactEvent, ...]:
    """Return the newest decisions that name this memory, the newest first."""
    named = Q(fact_id=memory.pk) | Q(other_id=memory.pk)
    events = ConsolidationEvent.objects.for_owner(memory.owner).filter(named).order_by("-at", "-pk")
    said = ("verdict__reason", "verdict__model", "verdict__cost_usd")
    rows = events.values("at", "kind", "decider", "actor", "reason", "fact_id", "other_id", "undone_by", *said)
    return tuple(decided(memory.pk, row) for row in rows[:SHOWN])


def decided(memory_id: int, row: Mapping[str, Any]) -> FactEvent:
    """Return an event as seen from this memory."""
    is_about_it = row["fact_id"] == memory_id
    verdict = ModelVerdict(
        row["verdict__reason"],
        row["verdict__model"],
        row["verdict__cost_usd"],
    )
    return FactEvent(
        at=row["at"],
        kind=row["kind"],
        decider=row["decider"],
        actor=row["actor"],
        reason=row["reason"],
        other_id=row["other_id" if is_about_it else "fact_id"],
        is_about_it=is_about_it,
        is_undone=row["undone_by"] is not None,
        verdict=None if row["verdict__model"] is None else verdict,
    )


def list_found(memory: Memory) -> NewestRows[SearchUse]:
    """Return the newest searches that returned it."""
    hits: Any = SearchLogHit.objects.filter(memory_id=memory.pk).order_by("-search")
    columns = ("rank", "search__door", "search__actor", "search__query", "search__owner_id")
    rows = hits.annotate(at=F("search__at")).values_list("at", *columns)[: MAX_COUNTED + 1]
    return NewestRows.of([SearchUse(*row) for row in rows])
