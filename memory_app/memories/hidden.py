"""What an owner hides from the prompts of their agents, asked of the apps above. Sources: S3 (flags), decisions.

An app lists its switches in `PROMPT_SWITCHES` of `prompt_switches.py`. Lists, Why, the left-out counts and the prompt
itself ask here, so that they agree.
"""

from typing import Protocol

from minara_site.access.models import User
from minara_site.kernel.ownership import Owner
from minara_site.kernel.registry import load


class PromptSwitch(Protocol):
    """Says what an owner hides."""

    name: str

    def hides_memories(self, owner_id: int) -> bool:
        """Say whether personalization memories and settled facts are in no prompt of this owner. One query."""


def hides_memories(owner: Owner) -> bool:
    """Say whether personalization memories and settled facts are in no prompt of this owner."""
    switches = load("prompt_switches").values()
    return isinstance(owner, User) and any(switch.hides_memories(owner.pk) for switch in switches)
