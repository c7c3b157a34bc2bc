"""Facts, pairs and events as pages show them: each text as its reader may see it, and what this reader may do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_app.facts.core import UNDOABLE, EventKind
from memory_app.facts.models import ConsolidationEvent, FactConflict
from memory_app.facts.selectors import find_retirements, find_undone
from memory_app.facts.services.rows import is_protected
from memory_app.facts.words import EVENTS, reason_words
from memory_app.held.masking import memory_for
from memory_app.memories.core import FactState
from memory_app.memories.models import Memory
from memory_app.memories.selectors import name_actors
from minara_site.access.principal import Principal
from minara_site.web.filters import Text


@dataclass(frozen=True)
class ListedFact:
    """A fact as a row; `event` retired it and can be taken back, `other` is what stays in its place."""

    memory: Memory
    is_own: bool
    event: ConsolidationEvent | None = None
    other: Memory | None = None
    why: str = ""

    @property
    def pk(self) -> int:
        """The id."""
        return self.memory.pk

    @property
    def is_protected(self) -> bool:
        """Whether its owner typed it, so that nothing retires it."""
        return is_protected(self.memory)


@dataclass(frozen=True)
class ListedConflict:
    """A pair as a row: the older fact and the newer one."""

    conflict: FactConflict
    older: ListedFact
    newer: ListedFact

    @property
    def pk(self) -> int:
        """The id."""
        return self.conflict.pk

    @property
    def owner_id(self) -> int:
        """Whose facts they are."""
        return self.conflict.owner_id

    @property
    def sides(self) -> tuple[ListedFact, ListedFact]:
        """Both facts, the older first."""
        return self.older, self.newer


@dataclass(frozen=True)
class ListedEvent:
    """An event as a row: the facts are None once they are gone. `may_undo`: it can be taken back now."""

    event: ConsolidationEvent
    author: str
    fact: Memory | None
    other: Memory | None
    may_undo: bool

    @property
    def pk(self) -> int:
        """The id."""
        return self.event.pk

    @property
    def words(self) -> Text:
        """What was decided."""
        return EVENTS[EventKind(self.event.kind)]

    @property
    def why(self) -> str:
        """Why, as far as anybody said."""
        return reason_words(self.event.reason)


def shape_facts(facts: Sequence[Memory], *, principal: Principal) -> list[ListedFact]:
    """Return facts as rows. No query unless some are retired, then two."""
    events = find_retirements([fact.pk for fact in facts if fact.fact_state == FactState.RETIRED])
    others = load_facts((event.other_id for event in events.values()), principal=principal)
    return [shape_fact(fact, principal=principal, event=events.get(fact.pk), others=others) for fact in facts]


def shape_fact(
    fact: Memory,
    *,
    principal: Principal,
    event: ConsolidationEvent | None = None,
    others: dict[int, Memory] | None = None,
) -> ListedFact:
    """Return one fact as a row."""
    return ListedFact(
        memory=memory_for(principal.owner, fact),
        is_own=fact.owner_id == principal.owner.pk,
        event=event,
        other=(others or {}).get(event.other_id or 0) if event else None,
        why=reason_words(event.reason) if event else "",
    )


def shape_conflicts(conflicts: Iterable[FactConflict], *, principal: Principal) -> list[ListedConflict]:
    """Return pairs as rows; they carry their facts."""
    return [
        ListedConflict(each, shape_fact(each.older, principal=principal), shape_fact(each.newer, principal=principal))
        for each in conflicts
    ]


def shape_events(events: Sequence[ConsolidationEvent], *, principal: Principal) -> list[ListedEvent]:
    """Return events as rows. Four queries at most."""
    names = name_actors({event.actor for event in events}, reader=principal.owner)
    facts = load_facts((pk for event in events for pk in (event.fact_id, event.other_id)), principal=principal)
    undone = find_undone([event.pk for event in events if event.kind in UNDOABLE])
    return [
        ListedEvent(
            event=event,
            author=names[event.actor],
            fact=facts.get(event.fact_id),
            other=facts.get(event.other_id or 0),
            may_undo=event.kind in UNDOABLE and event.pk not in undone and event.fact_id in facts,
        )
        for event in events
    ]


def load_facts(ids: Iterable[int | None], *, principal: Principal) -> dict[int, Memory]:
    """Return memories by id as this reader may see them; what is held or in the trash is gone. One query at most."""
    wanted = {pk for pk in ids if pk is not None}
    if not wanted:
        return {}
    rows = Memory.objects.filter(pk__in=wanted, deleted_at__isnull=True, held_at__isnull=True)
    return {row.pk: memory_for(principal.owner, row) for row in rows}
