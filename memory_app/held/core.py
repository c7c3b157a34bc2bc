"""The kinds of this app's texts that can be held. Source: decisions (holds)."""

from enum import StrEnum


class Kind(StrEnum):
    """Whose text a hold is about; `object_id` is the id in that table."""

    MEMORY = "memory"
    USER_PROFILE = "user_profile"
    ROLE_DECISION = "role_decision"
    ROLE_LESSON = "role_lesson"


ROLE_KINDS = frozenset({Kind.ROLE_DECISION, Kind.ROLE_LESSON})
"""The two texts of an entry of role memory."""
