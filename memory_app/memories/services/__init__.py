"""Everything that changes memories. Each function is one short write transaction with its audit row."""

from memory_app.memories.services.bridge import bridge_preference, correct_bridged
from memory_app.memories.services.edit import MAX_REASON_CHARS, Changes, check_editable, edit_memory, revert_memory
from memory_app.memories.services.guarded import delete_permanently, release_memories, rescan_rows
from memory_app.memories.services.remove import (
    MAX_BULK,
    Batch,
    delete_memories,
    discard_memories,
    hashes,
    hashes_by_owner,
    hold_memories_again,
    lock_memories,
    move_rows,
    purge_expired,
    restore_memories,
)
from memory_app.memories.services.write import (
    SLICE,
    Draft,
    agent_source,
    build_memory,
    insert_memories,
    record_fact,
    store_memories,
    write_memories,
    write_memory,
)

__all__ = [
    "MAX_BULK",
    "MAX_REASON_CHARS",
    "SLICE",
    "Batch",
    "Changes",
    "Draft",
    "agent_source",
    "bridge_preference",
    "build_memory",
    "check_editable",
    "correct_bridged",
    "delete_memories",
    "delete_permanently",
    "discard_memories",
    "edit_memory",
    "hashes",
    "hashes_by_owner",
    "hold_memories_again",
    "insert_memories",
    "lock_memories",
    "move_rows",
    "purge_expired",
    "record_fact",
    "release_memories",
    "rescan_rows",
    "restore_memories",
    "revert_memory",
    "store_memories",
    "write_memories",
    "write_memory",
]
