"""What the guard would say to a text that somebody is about to store, so that they know before it waits."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_app.held.core import Kind
from memory_app.search.core.highlight import Segment, cut, excerpt
from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Verdict
from minara_site.kernel.guard.selectors import judge_stored
from minara_site.web.filters import Text
from minara_site.web.guard_words import SENTENCES, NamedRule, name_rules

EXCERPT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Foresight:
    """Why a text would be held. `token` names the very text: who agreed to another one has not agreed to this."""

    sentence: Text
    rules: Sequence[NamedRule]
    excerpt: tuple[Segment, ...]
    token: str


def foresee(text: str, *, kind: Kind, object_id: int | None = None) -> Foresight | None:
    """Return why the guard would hold this text, None when it lets it in; `object_id` is a row that exists already."""
    verdict = guard.judge(text) if object_id is None else judge_stored(kind, {object_id: text})[object_id]
    return explain(text, verdict) if verdict.is_held else None


def explain(text: str, verdict: Verdict) -> Foresight:
    """Return a refusal in words, around the first thing that was found."""
    marked = cut(text, [(found.start, found.end) for found in verdict.findings])
    sentence = SENTENCES[verdict.findings[0].reason]
    shown = excerpt(marked, most=EXCERPT_CHARS)
    return Foresight(sentence, name_rules(verdict.findings), shown, content_digest(text))
