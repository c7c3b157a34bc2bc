"""What a session is suggested for a message: learnings, methods for the assets that it names, tags that it needs.

Suggestions allow nothing: what is above the session's tier is marked. No model is asked but for the tags, when intent
gating is on. Sources: S2, S3.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings

from learning_app.learnings.suggest import block_of, offer_record, offer_to
from learning_app.methodologies.block import render_block
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.selectors import list_injected, methodology_record
from learning_app.preferences.limits import Limit, is_forbidden, limit_records, load_limits
from minara_site.access.models import User
from minara_site.kernel.conversations.models import Session
from minara_site.kernel.conversations.selectors import load_tool_marks
from minara_site.kernel.core.assets import classify
from minara_site.kernel.core.tickers import EntityKind, extract_finance_entities
from profile_app.portrait.core.sections import CORE_TAGS, only_tags
from profile_app.portrait.selectors.profile import load_profile
from profile_app.portrait.selectors.tags import prompt_tags
from profile_app.prompt.core.blocks import render_turn_tags
from profile_app.prompt.intent import choose_tags

MAX_METHODOLOGIES = 5


@dataclass(frozen=True, slots=True)
class Suggested:
    """A block that an agent reads, and what is in it; both empty without anything."""

    block: str = ""
    items: Sequence[dict[str, Any]] = ()


def load_suggestions(
    *,
    session: Session,
    message: str,
    reader: User,
    actor: str,
    now: datetime,
    as_of: datetime | None = None,
) -> dict[str, Any]:
    """Return what an agent may read before it answers a message, as the API answers it.

    With `as_of` learnings and methodologies are those that were stored by then, with what was known of them; limits
    are today's, and tags, of which only today's are known, are left out.

    Of the session's own agent it is kept in the log what was offered, and that a turn is in flight until it is
    recorded, for 120 seconds at most.
    """
    limits = load_limits(session.owner_id)
    is_against = partial(is_forbidden, limits=limits)
    offers = offer_to(
        session,
        message,
        reader=reader,
        actor=actor,
        now=now,
        is_forbidden=is_against,
        as_of=as_of,
    )
    is_own = reader.pk == session.owner_id
    methods = suggest_methodologies(session=session, message=message, limits=limits, as_of=as_of)
    has_tags = is_own and as_of is None
    learnings = Suggested(block_of(offers), [offer_record(offer) for offer in offers])
    extras = {
        "methodologies": asdict(methods),
        "personalization": asdict(suggest_tags(session=session, message=message) if has_tags else Suggested()),
    }
    said = limit_records(limits, is_masked=not is_own)
    return {**asdict(learnings), "limits": said, "extras": extras}


def suggest_tags(*, session: Session, message: str) -> Suggested:
    """Return the tags beyond the core that a message needs; nothing without gating, or for whatever goes wrong."""
    if not settings.MINARA.chat_intent_gating_enabled or session.ended_at or not message.strip():
        return Suggested()
    is_on = load_profile(session.owner_id).include_tags
    tags = only_tags(prompt_tags(session.owner_id), CORE_TAGS, are_left_out=True) if is_on else []
    needed = only_tags(
        tags,
        choose_tags(message, [tag.name for tag in tags], owner_id=session.owner_id),
    )
    items = [
        {
            "name": tag.name,
            "value": tag.value,
            "source": tag.source,
        }
        for tag in needed
    ]
    return Suggested(render_turn_tags(needed), items)


def suggest_methodologies(
    *,
    session: Session,
    message: str,
    limits: Sequence[Limit],
    as_of: datetime | None,
) -> Suggested:
    """Return what prompts may carry now for the assets of a message: of their classes first, then of their groups.

    The surest of each come first; what a limit forbids is left out. A message that names no known asset gets none.
    """
    entities = extract_finance_entities(message)
    classes = (classify(entity.key) for entity in entities if entity.kind is EntityKind.TICKER)
    rows = list_injected(
        {each for each in classes if each},
        owner=session.owner,
        limit=MAX_METHODOLOGIES,
        as_of=as_of,
    )
    rows = [row for row in rows if not is_forbidden(row.guarded_text, limits)]
    used = {tool for row in rows for phase in row.phases or [] for tool in phase["tools_used"]}
    tiers = load_tool_marks(owner_id=session.owner_id).tiers if used else {}
    above = {tool for tool in used if tiers.get(tool, 0) > session.max_tier}
    return Suggested(
        render_block(rows, above_tier=above),
        [record_of(row, tiers, above) for row in rows],
    )


def record_of(
    row: Methodology,
    tiers: Mapping[str, int],
    above: Collection[str],
) -> dict[str, Any]:
    """Return a methodology as the API answers it; each phase says of its tools what is known of their tiers."""
    phases = [
        phase
        | {
            "tools": [
                {
                    "name": t,
                    "tier": tiers.get(t),
                    "above_tier": t in above,
                }
                for t in phase["tools_used"]
            ]
        }
        for phase in row.phases or []
    ]
    return methodology_record(row) | {"phases": phases or None}
