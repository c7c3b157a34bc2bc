"""What the processes of the race decide, on one shared database."""

import json
from typing import Any

from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.ownership import EVERYONE
from tests.console.quarantine.one_hold import discard_hold, release_hold
from tests.kit.clock import NOON
from tests.kit.racers import in_processes


def seed(count: int) -> int:
    owner = User.objects.get(is_default=True)
    provenance = Provenance(Source.AGENT_RECORDED, "key:test")
    drafts = [Draft(Category.FACT, f"turned \u202earound {n}", provenance) for n in range(count)]
    write_memories(owner_id=owner.pk, drafts=drafts, now=NOON, actor="test", tool_call="test")
    return Hold.objects.open().count()


def release_and_discard(count: int) -> str:
    """Release and discard the same holds at once; return how many there were, what each took, and what stands."""
    found = seed(count)
    return json.dumps([found, in_processes((decide_each, True), (decide_each, False)), outcome()])


def decide_each(release: bool) -> int:
    """Decide one hold after the other; return how many decisions were taken."""
    principal = Principal(user=User.objects.get(is_default=True), role=Role.OPERATOR)
    ids, taken = list(Hold.objects.order_by("pk").values_list("pk", flat=True)), 0
    for pk in ids:
        try:
            if release:
                release_hold(principal=principal, hold_id=pk, now=NOON)
            else:
                discard_hold(principal=principal, owner=EVERYONE, hold_id=pk, now=NOON)
        except Conflict:
            continue
        taken += 1
    return taken


def outcome() -> dict[str, Any]:
    decisions = list(Hold.objects.values_list("decision", flat=True))
    return {
        "released": decisions.count("released"),
        "discarded": decisions.count("discarded"),
        "live": Memory.objects.live().count(),
        "deleted": Memory.objects.deleted().count(),
    }
