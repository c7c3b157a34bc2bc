"""The app's tables, room by room."""

from memory_app.memories.models import Memory, MemoryRevision
from memory_app.search.models import SearchDocument
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.writes.models import RolledBackEntry, RolledBackMemory, WriteRollback

__all__ = [
    "Memory",
    "MemoryRevision",
    "RolledBackEntry",
    "RolledBackMemory",
    "SearchDocument",
    "UserProfileEntry",
    "UserProfileRevision",
    "WriteRollback",
]
