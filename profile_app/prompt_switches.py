"""What an owner hides from the prompts of their agents, by the settings of their profile. Source: S3 (flags)."""

from profile_app.portrait.core.profile import INCLUDE_MEMORIES
from profile_app.portrait.selectors.profile import load_settings


class ProfileSwitch:
    """The visibility flags of the financial profile."""

    name = "profile"

    def hides_memories(self, owner_id: int) -> bool:
        """Say whether the owner switched personalization memories off."""
        return not load_settings(owner_id)[INCLUDE_MEMORIES]


PROMPT_SWITCHES = (ProfileSwitch(),)
