"""The app's kinds of rows that writers write and a roll-back undoes."""

from memory_app.writes.kinds.memories import MemoryRollback
from memory_app.writes.kinds.profile import ProfileRollback

ROLLBACKS = (MemoryRollback(), ProfileRollback())
