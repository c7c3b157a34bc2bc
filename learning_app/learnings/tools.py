"""The tool `memory_learn`, formerly `skill_learn`: an agent stores a procedure that worked. Sources: S1, S2."""

from typing import Any

from django.utils import timezone

from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.schemas import NewLearning
from learning_app.learnings.services.store import store_learning
from minara_site.access.principal import Principal
from minara_site.kernel.guard.selectors import find_held


def learn(principal: Principal, args: NewLearning, *, reasoning: str) -> dict[str, Any]:
    """Store a learning. `is_new` is false for one with a trigger that is known; `held` says that the guard holds it."""
    stored = store_learning(
        owner_id=principal.owner.pk,
        draft=args.as_draft(),
        actor=principal.actor,
        now=timezone.now(),
        origin="tool:memory_learn",
        reasoning=reasoning,
    )
    held = find_held(LEARNING_KIND, stored.row)
    return {
        "id": stored.row.uid,
        "is_new": stored.is_new,
        **({"held": held} if held else {}),
    }
