"""The app's tables whose texts get vectors and links."""

from django.db.models import Q

from memory_app.index.core.document import Kind
from memory_app.index.derived import DerivedTable
from memory_app.memories.kinds import MemoryKind
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_refused as find_refused_memories
from memory_app.roles.kinds import DecisionKind
from memory_app.roles.models import RoleMemory
from memory_app.roles.selectors import find_refused as find_refused_decisions

DERIVED = (
    DerivedTable(
        Kind.MEMORY,
        Memory,
        "memories",
        needs_vector=Q(deleted_at__isnull=True, retired_at__isnull=True),
        find_refused=find_refused_memories,
        publish=MemoryKind().publish_changes,
    ),
    DerivedTable(
        Kind.ROLE_MEMORY,
        RoleMemory,
        "decisions",
        needs_vector=Q(),
        find_refused=find_refused_decisions,
        publish=DecisionKind().publish_changes,
    ),
)
