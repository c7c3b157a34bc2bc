"""The app's tables whose texts are found and linked."""

from django.db.models import Q

from memory_app.index.core.document import Kind, entry_document, memory_document
from memory_app.index.derived import DerivedTable
from memory_app.memories.kinds import MemoryKind
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_refused as find_refused_memories
from memory_app.roles.kinds import DecisionKind
from memory_app.roles.models import RoleMemory
from memory_app.roles.selectors import find_refused as find_refused_decisions

DERIVED = (
    DerivedTable(
        kind=Kind.MEMORY,
        model=Memory,
        called="memory",
        counted="memories",
        columns="m.id, m.owner_id, CASE WHEN m.held_at IS NULL THEN m.content ELSE '' END, m.category",
        document=memory_document,
        text=("content",),
        hides=("held_at",),
        needs_vector=Q(deleted_at__isnull=True, retired_at__isnull=True),
        find_refused=find_refused_memories,
        publish=MemoryKind().publish_changes,
    ),
    DerivedTable(
        kind=Kind.ROLE_MEMORY,
        model=RoleMemory,
        called="role memory entry",
        counted="decisions",
        columns="m.id, m.owner_id, m.asset, CASE WHEN m.held_at IS NULL THEN m.decision ELSE '' END, "
        "CASE WHEN m.held_at IS NULL AND m.lesson_held_at IS NULL THEN m.narrative ELSE '' END, "
        "CASE WHEN m.held_at IS NULL AND m.lesson_held_at IS NULL THEN m.lesson ELSE '' END",
        document=entry_document,
        text=("asset", "decision", "narrative", "lesson"),
        hides=("held_at", "lesson_held_at"),
        needs_vector=Q(),
        find_refused=find_refused_decisions,
        publish=DecisionKind().publish_changes,
    ),
)
