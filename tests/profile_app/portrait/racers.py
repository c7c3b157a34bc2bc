"""What the processes of the races do, on one shared database."""

import json

from minara_site.access.models import User
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag
from profile_app.portrait.selectors.tags import find_claim
from profile_app.portrait.services.tags import set_tag
from tests.kit.clock import NOON
from tests.kit.racers import in_processes, meet

VALUES = ("conservative", "balanced", "aggressive")


def many_at_once(rounds: int) -> str:
    """Let every source say something at once, twice each; return what stands and what is still known of each."""
    in_processes(*[(say_often, source, rounds) for source in TagSource for _twice in range(2)])
    owner = User.objects.get(is_default=True)
    claims = {source: find_claim(owner=owner, name="risk", source=source) for source in TagSource}
    tag, declared = UserTag.objects.get(), claims[TagSource.USER]
    return json.dumps(
        {
            "rows": list(UserTag.objects.values_list("name", "source")),
            "said": sorted(source for source, claim in claims.items() if claim),
            "agrees": declared is not None and declared.value == tag.value,
        }
    )


def say_often(source: TagSource, rounds: int) -> int:
    """Say one value after another."""
    owner = User.objects.get(is_default=True)
    for number in range(rounds):
        meet()
        set_tag(owner=owner, name="risk", value=VALUES[number % 3], source=source, actor="test", now=NOON)
    return rounds
