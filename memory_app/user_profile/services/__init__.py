"""Everything that changes the user profile. Each function is one short write transaction, or needs one."""

from memory_app.user_profile.services.guarded import (
    discard_value,
    hold_discarded,
    hold_released,
    lock_entries,
    purge_discarded_values,
    purge_removed_values,
    release_value,
    rescan_entries,
)
from memory_app.user_profile.services.values import (
    MAX_ENTRIES,
    MAX_VALUE_CHARS,
    clean_key,
    clean_value,
    keep_revision,
    remove_entry,
    set_earlier,
    set_entry,
    take_turns,
    undo_change,
)

__all__ = [
    "MAX_ENTRIES",
    "MAX_VALUE_CHARS",
    "clean_key",
    "clean_value",
    "discard_value",
    "hold_discarded",
    "hold_released",
    "keep_revision",
    "lock_entries",
    "purge_discarded_values",
    "purge_removed_values",
    "release_value",
    "remove_entry",
    "rescan_entries",
    "set_earlier",
    "set_entry",
    "take_turns",
    "undo_change",
]
