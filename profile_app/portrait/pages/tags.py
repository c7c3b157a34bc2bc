"""How tags look: every dimension with its values, who says so, out of what, and its history."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from learning_app.preferences.core import PREFERENCE_ORIGIN
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import AGENT_ACTOR, RUN_ORIGIN
from minara_site.kernel.governance.subjects import subject_label, subject_url
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.plain_text import parse_number
from minara_site.web.labels import enumeration
from profile_app.portrait.core.tags import MARKETS, MULTIPLE, SCHEMA, TagSource, parse_stored_tag_value
from profile_app.portrait.models import UserTag, UserTagEvent
from profile_app.portrait.selectors.profile import load_profile
from profile_app.portrait.selectors.tags import list_tags, load_evidence, load_history

Words = str | Promise

NAMES: dict[str, Words] = {
    "finance_knowledge": gettext_lazy("Finance knowledge"),
    "frequency": gettext_lazy("Trading frequency"),
    MARKETS: gettext_lazy("Markets"),
    "risk": gettext_lazy("Risk"),
    "web3_knowledge_level": gettext_lazy("Web3 knowledge"),
    "style": gettext_lazy("Decision style"),
    "FOMO Index": gettext_lazy("FOMO index"),
    "FUD Immunity": gettext_lazy("FUD immunity"),
    "Patience Level": gettext_lazy("Patience"),
    "Greed Index": gettext_lazy("Greed index"),
}
DEGREES: dict[str, Words] = {
    "Very Low": gettext_lazy("Very low"),
    "Low": gettext_lazy("Low"),
    "Medium": gettext_lazy("Medium"),
    "High": gettext_lazy("High"),
    "Very High": gettext_lazy("Very high"),
    "Strong": gettext_lazy("Strong"),
    "Weak": gettext_lazy("Weak"),
}
VALUES: dict[str, dict[str, Words]] = {
    "finance_knowledge": {
        "level_1": gettext_lazy("Beginner"),
        "level_2": gettext_lazy("Intermediate"),
        "level_3": gettext_lazy("Advanced"),
        "level_4": gettext_lazy("Expert"),
    },
    "frequency": {
        "passive": pgettext_lazy("trading frequency", "Passive"),
        "weekly": pgettext_lazy("trading frequency", "Weekly"),
        "daily": pgettext_lazy("trading frequency", "Daily"),
        "active": pgettext_lazy("trading frequency", "Active"),
    },
    MARKETS: {
        "crypto_majors": gettext_lazy("Crypto majors"),
        "crypto_alts": gettext_lazy("Crypto alts"),
        "memes": gettext_lazy("Memes"),
        "stocks": gettext_lazy("Stocks"),
        "commodities": gettext_lazy("Commodities"),
        "pre_ipo": gettext_lazy("Pre-IPO"),
    },
    "risk": {
        "conservative": gettext_lazy("Conservative"),
        "balanced": gettext_lazy("Balanced"),
        "aggressive": gettext_lazy("Aggressive"),
    },
    "web3_knowledge_level": {
        "level_1": gettext_lazy("Novice"),
        "level_2": gettext_lazy("Familiar"),
        "level_3": gettext_lazy("Experienced"),
        "level_4": gettext_lazy("Pro"),
    },
    "style": {
        "fundamentals": gettext_lazy("Fundamentals"),
        "technical": gettext_lazy("Technical"),
        "narrative": pgettext_lazy("decision style", "Narrative"),
        "news_event": gettext_lazy("News and events"),
        "community": gettext_lazy("Community"),
    },
    **{
        name: {value: DEGREES[value] for value in SCHEMA[name]}
        for name in ("FOMO Index", "FUD Immunity", "Patience Level", "Greed Index")
    },
}
"""The label of each value as people read it; prompts have the source's English ones."""

SAYS: dict[TagSource, Words] = {
    TagSource.USER: gettext_lazy("Declared"),
    TagSource.LEARNED_PREFERENCE: gettext_lazy("Learned"),
    TagSource.INFERRED: gettext_lazy("Inferred"),
}
ENDED: dict[str, Words] = {"cleared": gettext_lazy("Cleared"), "withdrawn": gettext_lazy("Withdrawn")}


class Choice(NamedTuple):
    """A value of a dimension, and whether it counts now."""

    value: str
    label: Words
    is_on: bool


class TagEventRow(NamedTuple):
    """What happened, in words: a line, what it says besides, by whom, when, out of what."""

    line: str
    note: str
    author: str
    at: datetime
    origin: str
    origin_url: str
    is_persons: bool


@dataclass(frozen=True, slots=True)
class TagRow:
    """One dimension as its page shows it; `tag` is None while nothing is known."""

    name: str
    label: Words
    anchor: str
    choices: Sequence[Choice]
    tag: UserTag | None
    author: str
    origin: str
    origin_url: str
    evidence: str
    history: Sequence[TagEventRow]
    problem: str = ""

    @property
    def is_multiple(self) -> bool:
        return self.name in MULTIPLE

    @property
    def is_declared(self) -> bool:
        return self.tag is not None and self.tag.source == TagSource.USER

    @property
    def is_stated_by_key(self) -> bool:
        """Whether an agent declared it as its user's word: then both stand on it."""
        return self.is_declared and self.tag.actor.startswith(AGENT_ACTOR)  # type: ignore[union-attr]

    @property
    def value(self) -> str:
        """What counts, in words."""
        return enumeration([str(each.label) for each in self.choices if each.is_on])


def page_context(
    owner: User,
    reader: User,
    problems: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return what the page shows of an owner's tags; `problems` by dimension. Six queries at most."""
    tags = {tag.name: tag for tag in list_tags(owner=owner)}
    history = load_history(owner=owner)
    events = [event for events in history.values() for event in events]
    actors = {tag.actor for tag in tags.values()} | {event.actor for event in events}
    names = name_actors(actors, reader=reader) if actors else {}
    evidence = load_evidence(owner=owner, tags=tags.values())
    rows = [
        shape_row(
            name,
            tags.get(name),
            history.get(name, ()),
            names,
            evidence=evidence.get(name, "") if owner == reader else mask(evidence.get(name, "")),
            problem=(problems or {}).get(name, ""),
        )
        for name in SCHEMA
    ]
    return {
        "rows": rows,
        "known": len(tags),
        "unconfirmed": sum(row.tag is not None and not row.is_declared for row in rows),
        "is_own": owner == reader,
        "owner_name": "" if owner == reader else owner.username,
        "is_hidden": not load_profile(owner.pk).include_tags,
    }


def shape_row(
    name: str,
    tag: UserTag | None,
    events: Iterable[UserTagEvent],
    names: Mapping[str, str],
    *,
    evidence: str,
    problem: str,
) -> TagRow:
    """Return one dimension in words."""
    chosen = split(name, tag.value) if tag else ()
    origin, origin_url = origin_of(tag.origin) if tag else ("", "")
    return TagRow(
        name,
        NAMES[name],
        anchor_of(name),
        [Choice(value, label, value in chosen) for value, label in VALUES[name].items()],
        tag,
        names.get(tag.actor, "") if tag else "",
        origin,
        origin_url,
        evidence,
        [shape_event(event, names) for event in events],
        problem,
    )


def shape_event(event: UserTagEvent, names: Mapping[str, str]) -> TagEventRow:
    """Return in words what happened."""
    said, before = claim_label(event.name, event.source, event.value), ""
    if event.source_before:
        before = claim_label(event.name, event.source_before, event.value_before)
    if event.kind in ENDED:
        line = _("%(what)s: %(value)s") % {"what": ENDED[event.kind], "value": before}
        note = _("%(what)s counts again") % {"what": said} if event.value else ""
    elif event.kind == "outranked":
        line, note = said, _("noted only: %(what)s counts") % {"what": before}
    elif event.kind == "confirmed":
        line, note = _("Confirmed: %(value)s") % {"value": value_label(event.name, event.value)}, ""
    else:
        line, note = said, _("before: %(what)s") % {"what": before} if before else ""
    is_persons = event.actor.startswith("user:")
    return TagEventRow(
        line,
        note,
        names.get(event.actor, ""),
        event.at,
        *origin_of(event.origin),
        is_persons,
    )


def claim_label(name: str, source: str, value: str) -> str:
    """Return who says what, such as `Inferred: Low`."""
    if not source:
        return ""
    return _("%(what)s: %(value)s") % {"what": SAYS[TagSource(source)], "value": value_label(name, value)}


def value_label(name: str, stored: str) -> str:
    """Return a stored value in the reader's language."""
    return enumeration([str(VALUES[name][each]) for each in split(name, stored)])


def split(name: str, stored: str) -> tuple[str, ...]:
    """Return the values that a column holds."""
    value = parse_stored_tag_value(name, stored)
    return (value,) if isinstance(value, str) else value


def origin_of(origin: str) -> tuple[str, str]:
    """Return in words what a tag was read out of, and its page; both are empty where nothing is known."""
    if preference_id := parse_number(origin, after=PREFERENCE_ORIGIN):
        return _("preference %(id)d") % {"id": preference_id}, reverse("preferences:one", args=[preference_id])
    if origin.startswith(RUN_ORIGIN):
        return subject_label(origin), subject_url(origin, "")
    return (_("a tag of the first version"), "") if origin == "user_tags_v1" else ("", "")


def anchor_of(name: str) -> str:
    """Return the id of a dimension on its page."""
    return f"tag-{name.lower().replace(' ', '-')}"
