"""The app's tables whose texts get vectors and links."""

from django.db.models import Q

from memory_app.index.core.document import Kind
from memory_app.index.derived import DerivedTable
from memory_app.memories.models import Memory
from memory_app.memories.selectors import find_refused as find_refused_memories
from memory_app.roles.models import RoleMemory
from memory_app.roles.selectors import find_refused as find_refused_decisions
from minara_site.kernel.events import memory_written, role_memory_changed, send_after_commit

DERIVED = (
    DerivedTable(
        Kind.MEMORY,
        Memory,
        "memories",
        needs_vector=Q(deleted_at__isnull=True, retired_at__isnull=True),
        find_refused=find_refused_memories,
        publish=lambda owner_id, ids: send_after_commit(memory_written, owner_id=owner_id, memory_ids=tuple(ids)),
    ),
    DerivedTable(
        Kind.ROLE_MEMORY,
        RoleMemory,
        "decisions",
        needs_vector=Q(),
        find_refused=find_refused_decisions,
        publish=lambda owner_id, ids: send_after_commit(role_memory_changed, owner_id=owner_id, entry_ids=tuple(ids)),
    ),
)
