"""The app's kinds of rows that writers write and a roll-back undoes."""

from memory_app.writes.kinds import MemoryRollback, ProfileRollback

ROLLBACKS = (MemoryRollback(), ProfileRollback())
