"""Role memory: what waits, what was learned, and what is behind. Source: S1 (doctor health: pending-72h backlog)."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.doctor.sections.memory import DISABLED, judged_line
from memory_app.memories.core import EmbeddingState
from memory_app.roles.core import Status
from memory_app.roles.core.declarations import Manual
from memory_app.roles.models import RoleMemory
from memory_app.roles.registry import registry
from memory_app.roles.selectors import list_manual_due
from minara_site.kernel.counts import RowCount
from minara_site.kernel.doctor.core import Line, Section
from minara_site.kernel.doctor.scope import ReportScope, line_of
from minara_site.kernel.guard.selectors import out_of_date
from minara_site.kernel.ownership import EVERYONE

BACKLOG = timedelta(hours=72)
VECTORS: Mapping[EmbeddingState, Promise] = {
    EmbeddingState.PENDING: gettext_lazy("Vectors of decisions: pending"),
    EmbeddingState.EMBEDDED: gettext_lazy("Vectors of decisions: embedded"),
    EmbeddingState.FAILED: gettext_lazy("Vectors of decisions: failed"),
    EmbeddingState.SKIPPED: gettext_lazy("Vectors of decisions: skipped"),
}


def roles_section(scope: ReportScope) -> Section:
    """Return how role memory is. One statement."""
    rows = RoleMemory.objects
    pending, old, late, waited, reflected, skipped, lessons, held, *more = scope.count(
        rows.filter(status=Status.PENDING),
        rows.filter(status=Status.PENDING, created_at__lt=scope.now - BACKLOG),
        rows.pending().filter(could_be_judged(scope.now - BACKLOG)),
        list_manual_due(owner=EVERYONE, now=scope.now),
        rows.filter(status=Status.REFLECTED),
        rows.filter(status=Status.SKIPPED),
        rows.with_lesson(),
        rows.filter(Q(held_at__isnull=False) | Q(lesson_held_at__isnull=False)),
        *(rows.filter(embedding_state=state) for state in EmbeddingState),
        *(rows.filter(**condition) for condition in out_of_date()),
    )
    vectors, judged = more[: len(EmbeddingState)], more[len(EmbeddingState) :]
    hint = _("Look under Roles what keeps them, or run: minara doctor --fix --apply --only reflect_pending")
    lines = (
        line_of("role_memory_pending", _("Decisions that wait for their outcome or reflection"), pending),
        line_of("role_memory_pending_72h", _("Of these, for more than 72 hours"), old),
        line_of("role_memory_late", _("Could have been judged 72 hours ago"), late, watched=True, hint=hint),
        line_of("role_memory_outcomes_waited_for", _("Outcomes that a person is to mark"), waited),
        line_of("role_memory_reflected", _("Decisions that are reflected"), reflected),
        line_of("role_memory_skipped", _("Decisions that are skipped"), skipped),
        line_of("role_memory_lessons", _("Lessons that agents read"), lessons),
        line_of("role_memory_held", _("Decisions and lessons that the guard holds"), held),
        *vector_lines(vectors),
        judged_line(
            "role_memory_judged_by_other_rules",
            _("Decisions judged by another rule set"),
            judged,
        ),
    )
    return Section("role_memory", _("Decisions"), lines)


def could_be_judged(moment: datetime) -> Q:
    """Return the condition that a declared role could have judged a decision at this moment; people take their time."""
    found = Q(pk__in=())
    for declared in registry().all():
        if not isinstance(declared.policy.outcome_probe, Manual):
            ready = moment - timedelta(hours=declared.policy.min_age_hours)
            found |= Q(
                role_id=declared.id,
                decided_at__lte=ready,
                created_at__lte=moment,
            )
    return found


def vector_lines(counts: list[RowCount]) -> list[Line]:
    """Return where the vectors stand; with the provider disabled pending is as it should be."""
    is_enabled = settings.MINARA.embedding_provider != DISABLED
    hint = _("Run: minara doctor --fix --apply --only embeddings")
    return [
        line_of(
            f"role_memory_embedding_{state}",
            VECTORS[state],
            count,
            watched=is_enabled and state in {EmbeddingState.PENDING, EmbeddingState.FAILED},
            hint=hint,
        )
        for state, count in zip(EmbeddingState, counts, strict=True)
    ]
