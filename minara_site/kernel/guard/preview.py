"""What the guard would find in a text that a person is about to store, so that they know before it is held."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise

from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.core.excerpt import Segment, cut, excerpt
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.labels import SENTENCES, NamedRule, name_rules
from minara_site.kernel.guard.selectors import judge_stored

EXCERPT_CHARS = 200


@dataclass(frozen=True, slots=True)
class GuardPreview:
    """Why a text would be held. `token` is a hash of the text: a consent counts for this text only."""

    sentence: str | Promise
    rules: Sequence[NamedRule]
    excerpt: tuple[Segment, ...]
    token: str


def preview_text(
    text: str,
    *,
    kind: str,
    object_id: int | None = None,
) -> GuardPreview | None:
    """Return why the guard would hold this text, None when it accepts it; `object_id` is a row that exists already."""
    verdict = guard.judge(text) if object_id is None else judge_stored(kind, {object_id: text})[object_id]
    if not verdict.is_held:
        return None
    marked = cut(
        text,
        [(found.start, found.end) for found in verdict.findings],
    )
    sentence, rules = SENTENCES[verdict.findings[0].reason], name_rules(verdict.findings)
    return GuardPreview(
        sentence,
        rules,
        excerpt(marked, limit=EXCERPT_CHARS),
        content_digest(text),
    )
