"""What a session is suggested for a message: methods that proved themselves on the assets it names. Source: S2.

Suggestions allow nothing: tools above the session's tier are marked. No model is asked.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from learning_app.methodologies.block import render_block
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.selectors import list_injected, methodology_record
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.conversations.selectors import load_tool_tiers
from minara_site.kernel.core.assets import AssetClass, classify
from minara_site.kernel.core.tickers import EntityKind, extract_finance_entities

MAX_METHODOLOGIES = 5


@dataclass(frozen=True, slots=True)
class Suggested:
    """A block that an agent reads, and what is in it; both empty without anything."""

    block: str = ""
    items: Sequence[dict[str, Any]] = ()


def suggest_methodologies(*, session: Session, message: str) -> Suggested:
    """Return what prompts may carry now for the assets of a message: of their classes first, then of their groups.

    The surest of each come first. A message that names no known asset gets none.
    """
    rows = list_injected(find_classes(message), owner=session.owner, limit=MAX_METHODOLOGIES)
    used = {tool for row in rows for phase in row.phases or [] for tool in phase["tools_used"]}
    tiers = load_tool_tiers(owner_id=session.owner_id) if used else {}
    above = {tool for tool in used if tiers.get(tool, 0) > session.max_tier}
    return Suggested(render_block(rows, above_tier=above), [record_of(row, tiers, above) for row in rows])


def find_classes(message: str) -> set[AssetClass]:
    """Return the classes of the assets that a message names."""
    entities = extract_finance_entities(message)
    classes = (classify(entity.key) for entity in entities if entity.kind is EntityKind.TICKER)
    return {each for each in classes if each}


def record_of(row: Methodology, tiers: Mapping[str, int], above: Collection[str]) -> dict[str, Any]:
    """Return a methodology as the API answers it; each phase says of its tools what is known of their tiers."""
    phases = [
        phase | {"tools": [{"name": t, "tier": tiers.get(t), "above_tier": t in above} for t in phase["tools_used"]]}
        for phase in row.phases or []
    ]
    return methodology_record(row) | {"phases": phases or None}
