"""What a role of an institution run reads: prices, evidence, methods, the last run, and what other roles said. Pure.

Whatever a person, a model or another site wrote stands between tags, each item on one line that can close no tag.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from learning_app.institution.core.roles import Position, Source
from learning_app.vocabulary import MissingInput
from minara_site.kernel.core.fence import MEMORY_CONTEXT, METHODOLOGIES, close_fence, fence_text, open_fence
from minara_site.kernel.core.nested import leaves
from minara_site.kernel.market.core.evidence import EvidenceItem, evidence_line

WITHHELD: Final = "(withheld)"
"""What stands in place of a text that the guard refused."""


def gettext_noop(message: str) -> str:
    """Mark a text for translation where it is shown; Django's own would bring Django into a pure core."""
    return message


M = MissingInput
MISSING_TEXTS: Final = {
    M.NEWS_UNSET: gettext_noop("News: no source is set up"),
    M.NEWS_FAILED: gettext_noop("News: the source did not answer"),
    M.NEWS_NONE: gettext_noop("News: the source has nothing of the last week"),
    M.NEWS_WITHHELD: gettext_noop("News: some headlines are withheld"),
    M.ONCHAIN_UNSET: gettext_noop("On-chain figures: no source is set up"),
    M.ONCHAIN_FAILED: gettext_noop("On-chain figures: the source did not answer"),
    M.ONCHAIN_NONE: gettext_noop("On-chain figures: the source has nothing of the last week"),
    M.ONCHAIN_WITHHELD: gettext_noop("On-chain figures: some are withheld"),
    M.PRICE_OLD: gettext_noop("Prices: the newest one is old"),
    M.PRICES_SHORT: gettext_noop("Prices: some earlier days are not known"),
    M.METHODS_NONE: gettext_noop("Methodologies: none has graduated for assets like this"),
    M.RETROSPECT_NONE: gettext_noop("Last decision: there is none on this ticker"),
}


@dataclass(frozen=True, slots=True)
class SaidBefore:
    """What a role answered earlier in the run."""

    role: str
    kind: str
    phase: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Brief:
    """What a run has for its roles. `prices` are lines of figures; `retrospect` is what became of the last run."""

    ticker: str
    moment: str
    prices: Sequence[str] = ()
    news: Sequence[EvidenceItem] = ()
    onchain: Sequence[EvidenceItem] = ()
    methods: Sequence[Mapping[str, Any]] = ()
    retrospect: Mapping[str, Any] | None = None
    missing: Sequence[MissingInput] = ()
    said: Sequence[SaidBefore] = field(default_factory=tuple)


def render_content(position: Position, brief: Brief) -> str:
    """Return what a role reads."""
    parts = [f"Ticker: {brief.ticker}", f"Moment: {brief.moment}"]
    if brief.missing:
        parts.append("Missing: " + "; ".join(MISSING_TEXTS[each] for each in brief.missing))
    sources: dict[Source, tuple[str, str, Iterable[str]]] = {
        Source.PRICES: ("Prices", MEMORY_CONTEXT, map(fence_text, brief.prices)),
        Source.NEWS: ("News of the last week", MEMORY_CONTEXT, map(evidence_line, brief.news)),
        Source.ONCHAIN: ("On-chain figures of the last week", MEMORY_CONTEXT, map(evidence_line, brief.onchain)),
        Source.METHODS: ("Methods that proved themselves", METHODOLOGIES, map(data_line, brief.methods)),
        Source.RETROSPECT: (
            "What became of the last decision on this ticker",
            MEMORY_CONTEXT,
            [data_line(brief.retrospect)] if brief.retrospect else [],
        ),
    }
    parts += [block(*sources[source]) for source in Source if source in position.sources]
    said = [each for each in brief.said if each.phase in position.phases]
    if position.phases:
        lines = (
            data_line(
                {
                    "role": each.role,
                    "kind": each.kind,
                    **each.fields,
                }
            )
            for each in said
        )
        parts.append(block("What other roles said in this run, in order", MEMORY_CONTEXT, lines))
    return "\n\n".join(parts)


def block(title: str, tag: str, lines: Iterable[str]) -> str:
    """Return lines that are safe already between the tags, under a title."""
    return "\n".join(
        [
            f"{title}:",
            open_fence(tag),
            *(list(lines) or ["none"]),
            close_fence(tag),
        ]
    )


def data_line(data: Mapping[str, Any]) -> str:
    """Return fields as one line of JSON."""
    return fence_text(json.dumps(data, ensure_ascii=False, sort_keys=True, default=str))


def withhold(fields: Any, is_refused: Callable[[str], bool]) -> Any:
    """Return nested fields with WITHHELD in place of each text that is refused."""
    if isinstance(fields, Mapping):
        return {name: withhold(value, is_refused) for name, value in fields.items()}
    if isinstance(fields, list):
        return [withhold(value, is_refused) for value in fields]
    return WITHHELD if isinstance(fields, str) and is_refused(str(fields)) else fields


def has_withheld(fields: Any) -> bool:
    """Say whether a text of these fields is withheld."""
    return WITHHELD in leaves(fields)
