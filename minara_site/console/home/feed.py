"""What happened lately, in words, out of the audit log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import ngettext_lazy

from memory_app.memories.selectors import reason_label
from memory_app.snapshot.selectors import count_rows_of
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.table import FeedLine, load_acts
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.web.moments import number_label

MAX_READ = 100  # entries: what is older counts as "more than"
MAX_SHOWN = 8
Words = str | Promise


@dataclass(frozen=True, slots=True)
class FeedItem:
    """Acts of one kind by one actor in a row, with the time of the newest; `tone` is the class of its dot."""

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
    entries = list((rows if owner is EVERYONE else rows.filter(owner_id=owner.pk))[:MAX_READ])
    newer = [entry for entry in entries if since and entry.at > since]
    is_cut = len(entries) == MAX_READ
    lines = {act.name: act.feed for act in load_acts().values() if act.feed}
    told = [entry for entry in entries if act_of(entry) in lines]
    acts = groupby(
        told,
        key=lambda entry: (
            act_of(entry),
            entry.actor,
            entry.owner_id,
            entry.reasoning,
        ),
    )
    groups = [list(group) for _key, group in acts]
    shown = groups[:MAX_SHOWN]
    names = name_actors({group[0].actor for group in shown}, reader=reader)
    counts = {
        name: sum(count_rows_of(entry.details) for entry in newer if act_of(entry) == name) for name in COUNTED_SINCE
    }
    return Feed(
        items=[
            item_of(
                group,
                lines[act_of(group[0])],
                names,
                reader,
                is_cut=is_cut and group[-1] is entries[-1],
            )
            for group in shown
        ],
        since=[str(COUNTED_SINCE[name] % counted(count)) for name, count in counts.items() if count],
        is_more=len(newer) == MAX_READ,
    )


def act_of(entry: AuditEntry) -> str:
    """Return what was done; of `memory_import.signed` and its like the channel behind the dot is no other act."""
    return entry.tool_call.partition(".")[0]


def item_of(
    group: Sequence[AuditEntry],
    line: FeedLine,
    names: Mapping[str, str],
    reader: User,
    *,
    is_cut: bool,
) -> FeedItem:
    """Return the line of some entries that say the same; of a cut group there may be more than were read."""
    newest = group[0]
    count = counted(sum(count_rows_of(entry.details) for entry in group))
    words = line.text % (count | {"number": f"{count['number']}+"} if is_cut else count)
    owner = newest.owner if newest.owner_id != reader.pk else None
    return FeedItem(
        at=newest.at,
        words=words,
        tone=line.icon,
        actor=names[newest.actor],
        owner=owner.get_short_name() if owner else "",
        reason=reason_label(newest.reasoning),
        url=link_of(line, group, owner),
    )


def counted(count: int) -> dict[str, Any]:
    """Return a count for words that need it, as a number and as people read it."""
    return {"count": count, "number": number_label(count)}


def link_of(line: FeedLine, group: Sequence[AuditEntry], owner: User | None) -> str:
    """Return the address of the one object of some entries, or of the list of the owner (None: the reader)."""
    if line.item_page and len(group) == 1 and "id" in group[0].details:
        return reverse(line.item_page, args=[group[0].details["id"]])
    if not line.page:
        return ""
    return reverse(line.page) + (f"?{urlencode({'owner': owner.username})}" if owner else "")
