"""Facts, pairs and events as pages show them: each text as its reader may see it, and what this reader may do."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from memory_app.facts.core import UNDOABLE, Decider, EventKind
from memory_app.facts.core.decision import DecisionKind
from memory_app.facts.core.judging import MAX_INVALID
from memory_app.facts.labels import EVENTS, REPEATED, VERDICTS, reason_label
from memory_app.facts.models import ConsolidationEvent, FactVerdict
from memory_app.facts.selectors import find_retirements, is_protected
from memory_app.memories.core import FactState
from memory_app.memories.models import FactConflict, Memory
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.web.filters import Text


@dataclass(frozen=True, slots=True)
class VerdictView:
    """What a model said about a pair, as its reader may see it; `others` are what a person may decide instead."""

    kind: str
    words: Text
    reason: str
    model: str
    cost_usd: Decimal
    is_shadow: bool
    others: tuple[DecisionKind, ...]


@dataclass(frozen=True)
class FactRow:
    """A fact as a row; `event` retired it and can be taken back, `other` is what stays in its place."""

    memory: Memory
    is_own: bool
    event: ConsolidationEvent | None = None
    other: Memory | None = None
    why: str = ""
    verdict: VerdictView | None = None

    @property
    def pk(self) -> int:
        return self.memory.pk

    @property
    def is_protected(self) -> bool:
        """Whether its owner typed it, so that nothing retires it."""
        return is_protected(self.memory)


@dataclass(frozen=True)
class ConflictRow:
    """A pair as a row: the older memory and the newer one."""

    conflict: FactConflict
    older: FactRow
    newer: FactRow
    verdict: VerdictView | None = None

    @property
    def pk(self) -> int:
        return self.conflict.pk

    @property
    def are_facts(self) -> bool:
        """Whether one may replace the other: only facts are retired."""
        return all(side.memory.fact_state == FactState.SETTLED for side in self.sides)

    @property
    def is_unreadable(self) -> bool:
        """Whether a model was asked and never gave an answer that can be read."""
        return self.verdict is None and self.conflict.invalid_answers >= MAX_INVALID

    @property
    def owner_id(self) -> int:
        """Whose facts they are."""
        return self.conflict.owner_id

    @property
    def sides(self) -> tuple[FactRow, FactRow]:
        """Both facts, the older first."""
        return self.older, self.newer


@dataclass(frozen=True)
class EventRow:
    """An event as a row: the facts are None once they are gone. `may_undo`: it can be taken back now."""

    event: ConsolidationEvent
    author: str
    fact: Memory | None
    other: Memory | None
    may_undo: bool
    verdict: VerdictView | None = None

    @property
    def pk(self) -> int:
        return self.event.pk

    @property
    def label(self) -> Text:
        """What was decided."""
        return REPEATED if self.event.is_repeated else EVENTS[EventKind(self.event.kind)]

    @property
    def why(self) -> str:
        """Why, as far as anybody said."""
        return reason_label(self.event.reason)


def shape_facts(facts: Sequence[Memory], *, principal: Principal) -> list[FactRow]:
    """Return facts as rows. No query unless some are retired, then three at most."""
    events = find_retirements([fact.pk for fact in facts if fact.fact_state == FactState.RETIRED])
    others = load_facts((event.other_id for event in events.values()), principal=principal)
    verdicts = verdicts_of_events(events.values(), reader=principal.owner)
    return [
        shape_fact(
            fact,
            principal=principal,
            event=events.get(fact.pk),
            others=others,
            verdicts=verdicts,
        )
        for fact in facts
    ]


def shape_fact(
    fact: Memory,
    *,
    principal: Principal,
    event: ConsolidationEvent | None = None,
    others: dict[int, Memory] | None = None,
    verdicts: dict[int, VerdictView] | None = None,
) -> FactRow:
    """Return one fact as a row."""
    return FactRow(
        memory=masked_for(principal.owner, fact),
        is_own=fact.owner_id == principal.owner.pk,
        event=event,
        other=(others or {}).get(event.other_id or 0) if event else None,
        why=reason_label(event.reason) if event else "",
        verdict=(verdicts or {}).get(event.pk) if event else None,
    )


def shape_conflicts(conflicts: Sequence[FactConflict], *, principal: Principal) -> list[ConflictRow]:
    """Return pairs as rows; they carry their facts. One query, for what models said."""
    verdicts = verdicts_of([each.pk for each in conflicts], reader=principal.owner)
    return [
        ConflictRow(
            each,
            shape_fact(each.older, principal=principal),
            shape_fact(each.newer, principal=principal),
            verdicts.get(each.pk),
        )
        for each in conflicts
    ]


def verdicts_of(conflict_ids: Collection[int], *, reader: User) -> dict[int, VerdictView]:
    """Return by pair what a model said about it. One query at most."""
    rows = with_facts().filter(conflict__in=conflict_ids) if conflict_ids else ()
    return {row.conflict_id: verdict_for(reader, row) for row in rows}


def verdicts_of_events(events: Iterable[ConsolidationEvent], *, reader: User) -> dict[int, VerdictView]:
    """Return by event the verdict that it carried out. One query at most."""
    ids = [event.pk for event in events if event.decider == Decider.MODEL]
    rows = with_facts().filter(event__in=ids) if ids else ()
    return {row.event_id: verdict_for(reader, row) for row in rows if row.event_id}


def with_facts() -> "QuerySet[FactVerdict]":
    """Return verdicts with the facts of their pairs."""
    return FactVerdict.objects.select_related("conflict__older", "conflict__newer")


def choices_beside(row: FactVerdict) -> tuple[DecisionKind, ...]:
    """Return what may be decided instead of a verdict: nothing that would retire what a user typed."""
    pair = row.conflict
    forbidden = {
        DecisionKind.SUPERSEDE: is_protected(pair.older),
        DecisionKind.KEEP_OLDER: is_protected(pair.newer),
    }
    return tuple(kind for kind in DecisionKind if kind != row.kind and not forbidden.get(kind))


def verdict_for(reader: User, row: FactVerdict) -> VerdictView:
    """Return a verdict as this person may see it: of somebody else's, secrets are masked."""
    reason = reason_label(row.reason)
    return VerdictView(
        kind=row.kind,
        words=VERDICTS[row.kind],
        reason=reason if row.owner_id == reader.pk else mask(reason),
        model=row.model,
        cost_usd=row.cost_usd,
        is_shadow=row.is_shadow,
        others=choices_beside(row),
    )


def shape_events(events: Sequence[ConsolidationEvent], *, principal: Principal) -> list[EventRow]:
    """Return events as rows. Five queries at most."""
    names = name_actors({event.actor for event in events}, reader=principal.owner)
    facts = load_facts(
        (pk for event in events for pk in (event.fact_id, event.other_id)),
        principal=principal,
    )
    later = ConsolidationEvent.objects.filter(undoes__in=[event.pk for event in events if event.kind in UNDOABLE])
    undone = set(later.values_list("undoes", flat=True))
    verdicts = verdicts_of_events(events, reader=principal.owner)
    return [
        EventRow(
            event=event,
            author=names[event.actor],
            fact=facts.get(event.fact_id),
            other=facts.get(event.other_id or 0),
            may_undo=event.kind in UNDOABLE
            and not (event.is_repeated or event.pk in undone)
            and event.fact_id in facts,
            verdict=verdicts.get(event.pk),
        )
        for event in events
    ]


def load_facts(ids: Iterable[int | None], *, principal: Principal) -> dict[int, Memory]:
    """Return memories by id as this reader may see them; what is held or in the trash is gone. One query at most."""
    wanted = {pk for pk in ids if pk is not None}
    if not wanted:
        return {}
    rows = Memory.objects.filter(
        pk__in=wanted,
        deleted_at__isnull=True,
        held_at__isnull=True,
    )
    return {row.pk: masked_for(principal.owner, row) for row in rows}
