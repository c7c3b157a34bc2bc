"""What happened lately, in words, out of the audit log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, ngettext_lazy

from memory_app.memories.selectors import reason_words
from memory_app.snapshot.selectors import count_rows_of
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.web.moments import number_words

MOST_READ = 100  # entries: what is older counts as "more than"
MOST_SHOWN = 8
Words = str | Promise


@dataclass(frozen=True, slots=True)
class Kind:
    """How an act looks in the feed: its words by count, the shape of its dot, and the list where its objects stand.

    Where it `opens_memory`, an entry about one memory leads to that memory.
    """

    words: Any  # takes `count` and, as people read it, `number`
    tone: str = ""
    place: str = ""
    opens_memory: bool = False


@dataclass(frozen=True, slots=True)
class FeedItem:
    """Acts of one kind by one actor in a row, with the time of the newest."""

    at: datetime
    words: Words
    tone: str
    actor: str
    owner: str
    reason: str
    url: str


@dataclass(frozen=True, slots=True)
class Feed:
    """The newest acts, and what happened since a moment (None: nobody asked): words, and whether there is more."""

    items: Sequence[FeedItem]
    since: Sequence[str]
    is_more: bool


KINDS: dict[str, Kind] = {
    "memory_write": Kind(
        ngettext_lazy("Wrote %(number)s memory", "Wrote %(number)s memories", "count"),
        "t-read",
        "memories:list",
        opens_memory=True,
    ),
    "memory_import": Kind(
        ngettext_lazy("Imported %(number)s memory", "Imported %(number)s memories", "count"),
        "t-read",
        "memories:list",
    ),
    "memory_edited": Kind(
        ngettext_lazy("Edited %(number)s memory", "Edited %(number)s memories", "count"),
        "t-person",
        "memories:list",
        opens_memory=True,
    ),
    "memory_reverted": Kind(
        ngettext_lazy("Took %(number)s edit back", "Took %(number)s edits back", "count"),
        "t-person",
        "memories:list",
        opens_memory=True,
    ),
    "memory_removed": Kind(
        ngettext_lazy("Deleted %(number)s memory", "Deleted %(number)s memories", "count"), "t-bad", "memories:trash"
    ),
    "memory_restored": Kind(
        ngettext_lazy("Restored %(number)s memory", "Restored %(number)s memories", "count"),
        "t-good",
        "memories:list",
    ),
    "write_rollback": Kind(
        ngettext_lazy("Rolled %(number)s row back", "Rolled %(number)s rows back", "count"), "t-bad", "memories:trash"
    ),
    "write_rollback_undone": Kind(
        ngettext_lazy("Undid the roll-back of %(number)s row", "Undid the roll-back of %(number)s rows", "count"),
        "t-person",
        "memories:list",
    ),
    "memory_purged": Kind(
        ngettext_lazy("Removed %(number)s memory for good", "Removed %(number)s memories for good", "count"), "t-bad"
    ),
    "user_profile_set": Kind(
        ngettext_lazy("Set %(number)s value of the user profile", "Set %(number)s values of the user profile", "count"),
        "t-person",
        "user_profile:page",
    ),
    "user_profile_removed": Kind(
        ngettext_lazy(
            "Removed %(number)s value of the user profile", "Removed %(number)s values of the user profile", "count"
        ),
        "t-bad",
        "user_profile:page",
    ),
    "api_key_created": Kind(ngettext_lazy("Made %(number)s API key", "Made %(number)s API keys", "count"), "t-person"),
    "api_key_revoked": Kind(
        ngettext_lazy("Revoked %(number)s API key", "Revoked %(number)s API keys", "count"), "t-bad"
    ),
    "user_created": Kind(ngettext_lazy("Made %(number)s account", "Made %(number)s accounts", "count"), "t-person"),
    "user_disabled": Kind(ngettext_lazy("Disabled %(number)s user", "Disabled %(number)s users", "count"), "t-bad"),
    "setup_claimed": Kind(gettext_lazy("Became the first operator"), "t-person"),
    "settings_changed": Kind(gettext_lazy("Changed the settings"), "t-person"),
    "password_changed": Kind(gettext_lazy("Changed the password"), "t-person"),
    "demo_loaded": Kind(
        ngettext_lazy("Loaded a demo of %(number)s memory", "Loaded a demo of %(number)s memories", "count"),
        "",
        "memories:list",
    ),
    "demo_removed": Kind(gettext_lazy("Removed the demo")),
}
COUNTED_SINCE: dict[str, Any] = {
    "memory_write": ngettext_lazy("%(number)s memory written", "%(number)s memories written", "count"),
    "memory_import": ngettext_lazy("%(number)s imported", "%(number)s imported", "count"),
    "memory_edited": ngettext_lazy("%(number)s edited", "%(number)s edited", "count"),
    "memory_removed": ngettext_lazy("%(number)s deleted", "%(number)s deleted", "count"),
    "session_started": ngettext_lazy("%(number)s session", "%(number)s sessions", "count"),
}


def load_feed(*, owner: Owner, reader: User, since: datetime | None) -> Feed:
    """Return what happened to an owner's data, or to everyone's, for this reader. Two queries."""
    rows = AuditEntry.objects.select_related("owner").order_by("-at", "-pk")
    entries = list((rows if owner is EVERYONE else rows.filter(owner_id=owner.pk))[:MOST_READ])
    newer = [entry for entry in entries if since and entry.at > since]
    is_cut = len(entries) == MOST_READ
    groups = [list(group) for _key, group in groupby((e for e in entries if act_of(e) in KINDS), key=same_act)]
    shown = groups[:MOST_SHOWN]
    names = name_actors({group[0].actor for group in shown}, reader=reader)
    return Feed(
        items=[item_of(group, names, reader, is_cut=is_cut and group[-1] is entries[-1]) for group in shown],
        since=words_since(newer),
        is_more=len(newer) == MOST_READ,
    )


def same_act(entry: AuditEntry) -> tuple[Any, ...]:
    """Return what entries have in common that stand on one line."""
    return act_of(entry), entry.actor, entry.owner_id, entry.reasoning


def act_of(entry: AuditEntry) -> str:
    """Return what was done; of `memory_import.signed` and its like the channel behind the dot is no other act."""
    return entry.tool_call.partition(".")[0]


def item_of(group: Sequence[AuditEntry], names: Mapping[str, str], reader: User, *, is_cut: bool) -> FeedItem:
    """Return the line of some entries that say the same; of a cut group there may be more than were read."""
    newest, kind = group[0], KINDS[act_of(group[0])]
    count = counted(sum(count_rows_of(entry.details) for entry in group))
    words = kind.words % (count | {"number": f"{count['number']}+"} if is_cut else count)
    owner = newest.owner if newest.owner_id != reader.pk else None
    return FeedItem(
        at=newest.at,
        words=words,
        tone=kind.tone,
        actor=names[newest.actor],
        owner=owner.get_short_name() if owner else "",
        reason=reason_words(newest.reasoning),
        url=link_of(kind, group, owner),
    )


def counted(count: int) -> dict[str, Any]:
    """Return a count for words that need it, as a number and as people read it."""
    return {"count": count, "number": number_words(count)}


def link_of(kind: Kind, group: Sequence[AuditEntry], owner: User | None) -> str:
    """Return where the objects of some entries stand: a memory, or the list of the owner (None: the reader)."""
    if kind.opens_memory and len(group) == 1 and "id" in group[0].details:
        return reverse("memories:one", args=[group[0].details["id"]])
    if not kind.place:
        return ""
    return reverse(kind.place) + (f"?{urlencode({'owner': owner.username})}" if owner else "")


def words_since(entries: Sequence[AuditEntry]) -> list[str]:
    """Return how much of each kind these entries stand for."""
    counts = {
        name: sum(count_rows_of(entry.details) for entry in entries if act_of(entry) == name) for name in COUNTED_SINCE
    }
    return [str(COUNTED_SINCE[name] % counted(count)) for name, count in counts.items() if count]
