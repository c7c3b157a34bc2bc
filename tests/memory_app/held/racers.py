"""What the processes of the race decide. Each function runs in a process of its own, on one shared database."""

import json
import time

from memory_app.held.services import discard_hold, release_hold
from memory_app.memories.core import Category, Provenance, Source
from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memories
from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.kernel.errors import Conflict
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.ownership import EVERYONE
from tests.kit.clock import NOON


def seed(count: int) -> int:
    owner = User.objects.get(is_default=True)
    provenance = Provenance(Source.AGENT_RECORDED, "key:test")
    drafts = [Draft(Category.FACT, f"turned \u202earound {n}", provenance) for n in range(count)]
    write_memories(owner_id=owner.pk, drafts=drafts, now=NOON, actor="test", tool_call="test")
    return Hold.objects.open().count()


def decide_each(release: bool, begin: float) -> int:
    """Decide one hold after the other; return how many decisions were taken."""
    principal = Principal(user=User.objects.get(is_default=True), role=Role.OPERATOR)
    ids, taken = list(Hold.objects.order_by("pk").values_list("pk", flat=True)), 0
    while time.time() < begin:
        time.sleep(0.001)
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


def outcome() -> str:
    decisions = list(Hold.objects.values_list("decision", flat=True))
    return json.dumps(
        {
            "released": decisions.count("released"),
            "discarded": decisions.count("discarded"),
            "live": Memory.objects.live().count(),
            "deleted": Memory.objects.deleted().count(),
        }
    )
