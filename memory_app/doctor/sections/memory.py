"""Memory health: what is stored, in which state, and what is behind. Source: S1 (doctor health)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, Exists, OuterRef, Q, When
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.edges.core import SourceTable
from memory_app.edges.models import MemoryEdge
from memory_app.entities.selectors import ENTITY_KINDS
from memory_app.memories.core import ConflictState, EmbeddingState, FactState
from memory_app.memories.models import LIVE, FactConflict, Memory
from memory_app.memories.selectors import retention_cutoff
from memory_app.snapshot.selectors import count_writes_of_sessions
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.counts import RowCount
from minara_site.kernel.doctor.core import HealthState, Line, Section
from minara_site.kernel.doctor.scope import ReportScope, line_of
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.selectors import out_of_date

TOP = 10
MAX_SESSIONS = 200
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
class MemoryCounts:
    """The memories, grouped; `is_exact` is False when counting stopped."""

    groups: tuple[Group, ...]
    is_exact: bool

    def line(
        self,
        name: str,
        label: str,
        wanted: Callable[[Group], bool],
        **more: Any,
    ) -> Line:
        """Return the line of those that are wanted."""
        return Line(
            name,
            label,
            sum(g.count for g in self.groups if wanted(g)),
            is_exact=self.is_exact,
            **more,
        )

    def tally(self, value: Callable[[Group], str | None]) -> Counter[str]:
        """Return how many live memories have each value."""
        counts: Counter[str] = Counter()
        for group in self.groups:
            if group.is_live and (key := value(group)):
                counts[key] += group.count
        return counts


def memory_section(scope: ReportScope) -> Section:
    """Return how the memory is."""
    counted = count_memories(scope)
    conflicts, holds, *judged = scope.count(
        FactConflict.objects.filter(state=ConflictState.OPEN),
        Hold.objects.open(),
        *(Memory.objects.filter(**condition) for condition in out_of_date()),
    )
    counts = counted.tally(lambda group: group.category)
    lines = (
        *state_lines(counted),
        *[
            Line(
                f"category_{name}",
                _("Category %(name)s") % {"name": name},
                counts[name],
                is_exact=counted.is_exact,
            )
            for name in Category
        ],
        *embedding_lines(counted),
        *fact_lines(counted),
        line_of(
            "fact_conflicts_open",
            _("Contradictions that wait for a decision"),
            conflicts,
        ),
        *edge_lines(scope),
        *snapshot_lines(scope),
        line_of("holds_open", _("Texts on hold"), holds),
        judged_line("judged_by_other_rules", _("Judged by another rule set"), judged),
    )
    return Section("memory", _("Memory health"), lines)


def count_memories(scope: ReportScope) -> MemoryCounts:
    """Count the memories in one statement."""
    states = {
        "is_live": LIVE,
        "is_held": Q(deleted_at__isnull=True, held_at__isnull=False),
        "is_deleted": Q(deleted_at__isnull=False),
        "is_past": Q(deleted_at__lte=retention_cutoff(scope.now)),
    }
    flags = {name: Case(When(state, then=True), default=False) for name, state in states.items()}
    rows = scope.newest(Memory.objects.all()).annotate(**flags)
    grouped = rows.order_by().values_list("category", "embedding_state", "fact_state", *flags)
    groups = tuple(Group(*row) for row in grouped.annotate(count=Count("pk")))
    return MemoryCounts(
        groups,
        is_exact=scope.has_all(sum(group.count for group in groups)),
    )


def state_lines(counted: MemoryCounts) -> tuple[Line, ...]:
    """Return how many memories are read, wait, or lie in the trash."""
    late = counted.line("trash_past_retention", "", lambda g: g.is_past).count
    hint = _("The purge runs every half hour; look at its runs under Jobs.") if late else ""
    return (
        counted.line("memories_live", _("Memories that are read"), lambda g: g.is_live),
        counted.line("memories_held", _("Memories that the guard holds"), lambda g: g.is_held),
        counted.line("memories_deleted", _("Memories in the trash"), lambda g: g.is_deleted),
        counted.line(
            "trash_past_retention",
            _("In the trash past their retention"),
            lambda g: g.is_past,
            state=HealthState.WATCH if late else HealthState.OK,
            hint=hint,
        ),
    )


def embedding_lines(counted: MemoryCounts) -> list[Line]:
    """Return where the vectors of live memories stand; with the provider disabled pending is as it should be."""
    counts, provider = counted.tally(lambda group: group.embedding_state), settings.MINARA.embedding_provider
    watched = () if provider == DISABLED else (EmbeddingState.PENDING, EmbeddingState.FAILED)
    hint = _("Run: minara doctor --fix --apply --only embeddings")
    lines = [
        Line(
            f"embedding_{name}",
            _("Vectors: %(state)s") % {"state": VECTORS[name]},
            counts[name],
            state=HealthState.WATCH if name in watched and counts[name] else HealthState.OK,
            hint=hint if name in watched and counts[name] else "",
            is_exact=counted.is_exact,
        )
        for name in EmbeddingState
    ]
    return [
        Line(
            "embedding_provider",
            _("Embedding provider"),
            words=str(provider),
            is_public=True,
        ),
        *lines,
    ]


def fact_lines(counted: MemoryCounts) -> list[Line]:
    """Return where the facts stand."""
    counts: Counter[str] = Counter()
    for group in counted.groups:
        if group.fact_state and not group.is_deleted:
            counts[group.fact_state] += group.count
    return [
        Line(
            f"facts_{name}",
            _("Facts: %(state)s") % {"state": FACTS[name]},
            counts[name],
            is_exact=counted.is_exact,
        )
        for name in FactState
    ]


def edge_lines(scope: ReportScope) -> tuple[Line, ...]:
    """Return how many edges live memories have, and the entities with most of them, in one statement (R-25)."""
    live = Exists(Memory.objects.live().filter(pk=OuterRef("src_id")))
    is_live = Case(When(live, src_table=SourceTable.MEMORIES, then=True), default=False)
    edges = scope.newest(MemoryEdge.objects.all()).annotate(is_live=is_live)
    grouped = edges.order_by().values_list("dst_entity_kind", "dst_entity_key")
    rows = list(
        grouped.annotate(
            live=Count("pk", filter=Q(is_live=True)),
            total=Count("pk"),
        )
    )
    counts = [(key, count) for kind, key, count, _total in rows if count and kind in ENTITY_KINDS]
    top = tuple(sorted(counts, key=lambda each: (-each[1], each[0]))[:TOP])
    is_exact = scope.has_all(sum(total for *_group, total in rows))
    return (
        Line(
            "edges",
            _("Edges"),
            sum(count for _kind, _key, count, _total in rows),
            is_exact=is_exact,
        ),
        Line(
            "entities_top",
            _("Entities with most edges"),
            count=len(top),
            names=top,
        ),
    )


def snapshot_lines(scope: ReportScope) -> tuple[Line, ...]:
    """Return how many running sessions do not know of writes since they began, and how many writes wait at most."""
    running = list(Session.objects.filter(ended_at__isnull=True).order_by("-created_at", "-id")[: MAX_SESSIONS + 1])
    is_exact = len(running) <= MAX_SESSIONS
    waiting = count_writes_of_sessions(running[:MAX_SESSIONS]).values()
    dirty = sum(1 for count in waiting if count)
    return (
        Line("sessions_running", _("Sessions that run"), min(len(running), MAX_SESSIONS), is_exact=is_exact),
        Line("snapshots_dirty", _("Sessions with writes since their prompt was frozen"), dirty, is_exact=is_exact),
        Line(
            "snapshot_writes_waiting",
            _("Writes that wait for the next session, most of one"),
            max(waiting, default=0),
        ),
    )


def judged_line(name: str, label: str, judged: Sequence[RowCount]) -> Line:
    """Return how many texts older and newer rule sets judged."""
    together = RowCount(
        sum(each.number for each in judged),
        is_exact=all(each.is_exact for each in judged),
    )
    hint = _("No prompt takes one before it is judged again; the job guard.rescan does that.")
    return line_of(name, label, together, watched=True, hint=hint)
