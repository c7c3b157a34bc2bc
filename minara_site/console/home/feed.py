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

from memory_app.memories.selectors import name_actors, reason_words
from memory_app.snapshot.selectors import count_rows_of
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.ownership import EVERYONE, Owner

MOST_READ = 100  # entries: what is older counts as "more than"
MOST_SHOWN = 8
Words = str | Promise


@dataclass(frozen=True, slots=True)
class Kind:
    """How an act looks in the feed: its words by count, the shape of its dot, and the list where its objects stand.

    Where it `opens_memory`, an entry about one memory leads to that memory.
    """

    words: Any  # takes %(count)d
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
        ngettext_lazy("Wrote %(count)d memory", "Wrote %(count)d memories", "count"),
        "t-read",
        "memories:list",
        opens_memory=True,
    ),
    "memory_import": Kind(
        ngettext_lazy("Imported %(count)d memory", "Imported %(count)d memories", "count"),
        "t-read",
        "memories:list",
    ),
    "memory_edited": Kind(
        ngettext_lazy("Edited %(count)d memory", "Edited %(count)d memories", "count"),
        "t-person",
        "memories:list",
        opens_memory=True,
    ),
    "memory_reverted": Kind(
        ngettext_lazy("Took %(count)d edit back", "Took %(count)d edits back", "count"),
        "t-person",
        "memories:list",
        opens_memory=True,
    ),
    "memory_removed": Kind(
        ngettext_lazy("Deleted %(count)d memory", "Deleted %(count)d memories", "count"), "t-bad", "memories:trash"
    ),
    "memory_restored": Kind(
        ngettext_lazy("Restored %(count)d memory", "Restored %(count)d memories", "count"),
        "t-good",
        "memories:list",
    ),
    "memory_purged": Kind(
        ngettext_lazy("Removed %(count)d memory for good", "Removed %(count)d memories for good", "count"), "t-bad"
    ),
    "user_profile_set": Kind(
        ngettext_lazy("Set %(count)d value of the user profile", "Set %(count)d values of the user profile", "count"),
        "t-person",
        "user_profile:page",
    ),
    "user_profile_removed": Kind(
        ngettext_lazy(
            "Removed %(count)d value of the user profile", "Removed %(count)d values of the user profile", "count"
        ),
        "t-bad",
        "user_profile:page",
    ),
    "api_key_created": Kind(ngettext_lazy("Made %(count)d API key", "Made %(count)d API keys", "count"), "t-person"),
    "api_key_revoked": Kind(ngettext_lazy("Revoked %(count)d API key", "Revoked %(count)d API keys", "count"), "t-bad"),
    "user_created": Kind(ngettext_lazy("Made %(count)d user", "Made %(count)d users", "count"), "t-person"),
    "user_disabled": Kind(ngettext_lazy("Disabled %(count)d user", "Disabled %(count)d users", "count"), "t-bad"),
    "setup_claimed": Kind(gettext_lazy("Became the first operator"), "t-person"),
    "settings_changed": Kind(gettext_lazy("Changed the settings"), "t-person"),
    "password_changed": Kind(gettext_lazy("Changed the password"), "t-person"),
    "demo_loaded": Kind(
        ngettext_lazy("Loaded a demo of %(count)d memory", "Loaded a demo of %(count)d memories", "count"),
        "",
        "memories:list",
    ),
    "demo_removed": Kind(gettext_lazy("Removed the demo")),
}
COUNTED_SINCE: dict[str, Any] = {
    "memory_write": ngettext_lazy("%(count)d memory written", "%(count)d memories written", "count"),
    "memory_import": ngettext_lazy("%(count)d imported", "%(count)d imported", "count"),
    "memory_edited": ngettext_lazy("%(count)d edited", "%(count)d edited", "count"),
    "memory_removed": ngettext_lazy("%(count)d deleted", "%(count)d deleted", "count"),
    "session_started": ngettext_lazy("%(count)d session", "%(count)d sessions", "count"),
}


def load_feed(*, owner: Owner, reader: User, since: datetime | None) -> Feed:
    """Return what happened to an owner's data, or to everyone's, for this reader. Two queries."""
    rows = AuditEntry.objects.select_related("owner").order_by("-at", "-pk")
    entries = list((rows if owner is EVERYONE else rows.filter(owner_id=owner.pk))[:MOST_READ])
    newer = [entry for entry in entries if since and entry.at > since]
    groups = [list(group) for _key, group in groupby((e for e in entries if e.tool_call in KINDS), key=same_act)]
    shown = groups[:MOST_SHOWN]
    names = name_actors({group[0].actor for group in shown}, reader=reader)
    return Feed(
        items=[item_of(group, names, reader) for group in shown],
        since=words_since(newer),
        is_more=len(newer) == MOST_READ,
    )


def same_act(entry: AuditEntry) -> tuple[Any, ...]:
    """Return what entries have in common that stand on one line."""
    return entry.tool_call, entry.actor, entry.owner_id, entry.reasoning


def item_of(group: Sequence[AuditEntry], names: Mapping[str, str], reader: User) -> FeedItem:
    """Return the line of some entries that say the same."""
    newest, kind = group[0], KINDS[group[0].tool_call]
    words = kind.words % {"count": sum(count_rows_of(entry.details) for entry in group)}
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
        name: sum(count_rows_of(entry.details) for entry in entries if entry.tool_call == name)
        for name in COUNTED_SINCE
    }
    return [str(COUNTED_SINCE[name] % {"count": count}) for name, count in counts.items() if count]
