"""Memory health: what is stored, in which state, and what is behind. Source: S1 (doctor health)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.doctor.core import HOLDS_OPEN, Line, Section, State
from memory_app.doctor.sections.look import EVERY_ROW, Look, line_of
from memory_app.entities.selectors import ENTITY_KINDS
from memory_app.facts.core import ConflictState
from memory_app.facts.models import FactConflict
from memory_app.memories.core import EmbeddingState, FactState
from memory_app.memories.models import Memory
from memory_app.memories.selectors import retention_cutoff
from memory_app.snapshot.selectors import count_writes_of_sessions
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.selectors import out_of_date
from minara_site.web.counts import RowCount

TOP = 10
MOST_SESSIONS = 200
DISABLED = "disabled"
VECTORS: Mapping[EmbeddingState, Promise] = {
    EmbeddingState.PENDING: gettext_lazy("pending"),
    EmbeddingState.EMBEDDED: gettext_lazy("embedded"),
    EmbeddingState.FAILED: gettext_lazy("failed"),
    EmbeddingState.SKIPPED: gettext_lazy("skipped"),
}
FACTS: Mapping[FactState, Promise] = {
    FactState.PENDING: gettext_lazy("pending"),
    FactState.SETTLED: gettext_lazy("settled"),
    FactState.RETIRED: gettext_lazy("retired"),
}

CENSUS = """
    SELECT category, embedding_state, fact_state, is_live, is_held, is_deleted, is_past, COUNT(*) FROM (
        SELECT category, embedding_state, fact_state,
            deleted_at IS NULL AND held_at IS NULL AND retired_at IS NULL AS is_live,
            deleted_at IS NULL AND held_at IS NOT NULL AS is_held,
            deleted_at IS NOT NULL AS is_deleted,
            deleted_at IS NOT NULL AND deleted_at <= %s AS is_past
        FROM memories LIMIT %s
    ) counted GROUP BY 1, 2, 3, 4, 5, 6, 7
"""
EDGES = """
    SELECT dst_entity_key,
        COUNT(m.id) FILTER (WHERE dst_entity_kind IN (%s, %s, %s)), SUM(COUNT(m.id)) OVER (), SUM(COUNT(*)) OVER ()
    FROM (
        SELECT src_table, src_id, dst_entity_kind, dst_entity_key FROM memory_edges ORDER BY id DESC LIMIT %s
    ) newest LEFT JOIN memories m ON src_table = 'memories' AND m.id = src_id
        AND m.deleted_at IS NULL AND m.held_at IS NULL AND m.retired_at IS NULL
    GROUP BY dst_entity_kind, dst_entity_key ORDER BY 2 DESC, 1 LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class Group:
    """How many memories are alike in everything that the doctor counts."""

    category: str
    embedding_state: str
    fact_state: str | None
    is_live: bool
    is_held: bool
    is_deleted: bool
    is_past: bool
    count: int


@dataclass(frozen=True, slots=True)
class Census:
    """The memories, grouped; `is_exact` is False when counting stopped."""

    groups: tuple[Group, ...]
    is_exact: bool

    def line(self, name: str, label: str, wanted: Callable[[Group], bool], **more: Any) -> Line:
        """Return the line of those that are wanted."""
        return Line(name, label, sum(g.count for g in self.groups if wanted(g)), is_exact=self.is_exact, **more)

    def tally(self, value: Callable[[Group], str | None]) -> Counter[str]:
        """Return how many live memories have each value."""
        counts: Counter[str] = Counter()
        for group in self.groups:
            if group.is_live and (key := value(group)):
                counts[key] += group.count
        return counts


def memory_section(look: Look) -> Section:
    """Return how the memory is."""
    census = take_census(look)
    conflicts, holds, *judged = look.count(
        FactConflict.objects.filter(state=ConflictState.OPEN),
        Hold.objects.open(),
        *(Memory.objects.filter(**condition) for condition in out_of_date()),
    )
    lines = (
        *state_lines(census),
        *category_lines(census),
        *embedding_lines(census),
        *fact_lines(census),
        line_of("fact_conflicts_open", _("Contradictions that wait for a decision"), conflicts),
        *edge_lines(look),
        *snapshot_lines(look),
        line_of(HOLDS_OPEN, _("Texts on hold"), holds),
        judged_line(judged),
    )
    return Section("memory", _("Memory health"), lines)


def take_census(look: Look) -> Census:
    """RowCount the memories in one statement."""
    most = EVERY_ROW if look.most is None else look.most + 1
    connection = connections[DEFAULT_DB_ALIAS]
    cutoff = connection.ops.adapt_datetimefield_value(retention_cutoff(look.now))
    with connection.cursor() as cursor:
        cursor.execute(CENSUS, [cutoff, most])
        groups = tuple(group_of(row) for row in cursor.fetchall())
    return Census(groups, is_exact=sum(group.count for group in groups) < most)


def group_of(row: tuple[Any, ...]) -> Group:
    """Return a row of the census; SQLite's truths are numbers."""
    category, embedding_state, fact_state, is_live, is_held, is_deleted, is_past, count = row
    return Group(
        category, embedding_state, fact_state, bool(is_live), bool(is_held), bool(is_deleted), bool(is_past), count
    )


def state_lines(census: Census) -> tuple[Line, ...]:
    """Return how many memories are read, wait, or lie in the trash."""
    late = census.line("trash_past_retention", "", lambda g: g.is_past).count
    hint = _("The purge runs every half hour; look at its runs under Jobs.") if late else ""
    return (
        census.line("memories_live", _("Memories that are read"), lambda g: g.is_live),
        census.line("memories_held", _("Memories that the guard holds"), lambda g: g.is_held),
        census.line("memories_deleted", _("Memories in the trash"), lambda g: g.is_deleted),
        census.line(
            "trash_past_retention",
            _("In the trash past their retention"),
            lambda g: g.is_past,
            state=State.WATCH if late else State.OK,
            hint=hint,
        ),
    )


def category_lines(census: Census) -> list[Line]:
    """Return how many live memories each category has."""
    counts = census.tally(lambda group: group.category)
    return [
        Line(f"category_{name}", _("Category %(name)s") % {"name": name}, counts[name], is_exact=census.is_exact)
        for name in Category
    ]


def embedding_lines(census: Census) -> list[Line]:
    """Return where the vectors of live memories stand; with the provider disabled pending is as it should be."""
    counts, provider = census.tally(lambda group: group.embedding_state), settings.MINARA.embedding_provider
    watched = () if provider == DISABLED else (EmbeddingState.PENDING, EmbeddingState.FAILED)
    hint = _("Run: minara doctor --fix --apply --only embeddings")
    lines = [
        Line(
            f"embedding_{name}",
            _("Vectors: %(state)s") % {"state": VECTORS[name]},
            counts[name],
            state=State.WATCH if name in watched and counts[name] else State.OK,
            hint=hint if name in watched and counts[name] else "",
            is_exact=census.is_exact,
        )
        for name in EmbeddingState
    ]
    return [Line("embedding_provider", _("Embedding provider"), words=str(provider), is_public=True), *lines]


def fact_lines(census: Census) -> list[Line]:
    """Return where the facts stand."""
    counts: Counter[str] = Counter()
    for group in census.groups:
        if group.fact_state and not group.is_deleted:
            counts[group.fact_state] += group.count
    return [
        Line(f"facts_{name}", _("Facts: %(state)s") % {"state": FACTS[name]}, counts[name], is_exact=census.is_exact)
        for name in FactState
    ]


def edge_lines(look: Look) -> tuple[Line, ...]:
    """Return how many edges live memories have, and the entities with most of them, in one statement (R-25)."""
    most = EVERY_ROW if look.most is None else look.most + 1
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(EDGES, [*ENTITY_KINDS, most, TOP])
        rows = cursor.fetchall()
    live, looked_at = map(int, rows[0][2:]) if rows else (0, 0)
    top = tuple((key, count) for key, count, *_totals in rows if count)
    return (
        Line("edges", _("Edges"), live, is_exact=looked_at < most),
        Line("entities_top", _("Entities with most edges"), count=len(top), names=top),
    )


def snapshot_lines(look: Look) -> tuple[Line, ...]:
    """Return how many running sessions do not know of writes since they began, and how many writes wait at most."""
    running = list(Session.objects.filter(ended_at__isnull=True).order_by("-created_at", "-id")[: MOST_SESSIONS + 1])
    is_exact = len(running) <= MOST_SESSIONS
    waiting = count_writes_of_sessions(running[:MOST_SESSIONS]).values()
    dirty = sum(1 for count in waiting if count)
    return (
        Line("sessions_running", _("Sessions that run"), min(len(running), MOST_SESSIONS), is_exact=is_exact),
        Line("snapshots_dirty", _("Sessions with writes since their prompt was frozen"), dirty, is_exact=is_exact),
        Line(
            "snapshot_writes_waiting", _("Writes that wait for the next session, most of one"), max(waiting, default=0)
        ),
    )


def judged_line(judged: Sequence[RowCount]) -> Line:
    """Return how many memories older and newer rule sets judged."""
    together = RowCount(sum(each.number for each in judged), is_exact=all(each.is_exact for each in judged))
    hint = _("No prompt takes one before it is judged again; the job guard.rescan does that.")
    return line_of("judged_by_other_rules", _("Judged by another rule set"), together, watched=True, hint=hint)
