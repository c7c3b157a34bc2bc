"""What the processes of the race do, on one shared database."""

import json

from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.models import AuditEntry
from profile_app.onboarding.services import complete_onboarding
from profile_app.portrait.models import UserTag
from tests.kit.clock import NOON
from tests.kit.racers import in_processes, meet

ANSWERS = {
    "financeKnowledge": "level_2",
    "frequency": "daily",
    "risk": "balanced",
    "markets": ["stocks"],
    "capital": "25k USD",
}


def answers_at_once(callers: int, rounds: int) -> str:
    """Send equal answers from several processes, as often; return what was counted, and what is stored."""
    counted = in_processes(*[(answer_each, rounds)] * callers)
    return json.dumps(
        {
            "tags": sum(tags for tags, _memories in counted),
            "memories": sum(memories for _tags, memories in counted),
            "stored": sorted(Memory.objects.values_list("content", "version")),
            "tags_stored": sorted(UserTag.objects.values_list("name", "value")),
            "recorded": AuditEntry.objects.filter(tool_call="onboarding_completed").count(),
        }
    )


def answer_each(rounds: int) -> tuple[int, int]:
    """Send the answers so often; return how many tags and memories that wrote."""
    owner, tags, memories = User.objects.get(is_default=True), 0, 0
    for _round in range(rounds):
        meet()
        done = complete_onboarding(principal=Principal(owner, Role.USER), answers=ANSWERS, now=NOON)
        tags, memories = tags + done.tags_changed, memories + done.memories_written
    return tags, memories
