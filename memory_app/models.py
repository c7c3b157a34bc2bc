"""The app's tables, room by room."""

from memory_app.bundle.models import BundleTransfer
from memory_app.edges.models import MemoryEdge
from memory_app.embeddings.models import MemoryVector
from memory_app.facts.models import ConsolidationEvent, FactVerdict
from memory_app.index.models import SearchDocument
from memory_app.memories.models import FactConflict, Memory, MemoryDeletion, MemoryRevision, MemoryStatement
from memory_app.pages.models import CompiledPageVersion
from memory_app.roles.models import RoleMemory, RoleState
from memory_app.search.models import SearchLogEntry, SearchLogHit
from memory_app.snapshot.models import SnapshotMemory
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.writes.models import BroughtIn, RolledBackEntry, RolledBackMemory, WriteRollback

__all__ = [
    "BroughtIn",
    "BundleTransfer",
    "CompiledPageVersion",
    "ConsolidationEvent",
    "FactConflict",
    "FactVerdict",
    "Memory",
    "MemoryDeletion",
    "MemoryEdge",
    "MemoryRevision",
    "MemoryStatement",
    "MemoryVector",
    "RoleMemory",
    "RoleState",
    "RolledBackEntry",
    "RolledBackMemory",
    "SearchDocument",
    "SearchLogEntry",
    "SearchLogHit",
    "SnapshotMemory",
    "UserProfileEntry",
    "UserProfileRevision",
    "WriteRollback",
]
