"""What happened lately, in words, out of the audit log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _, ngettext_lazy

from memory_app.memories.selectors import reason_label
from memory_app.snapshot.selectors import count_rows_of
from memory_app.writes.core.anomalies import AGENTS
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.table import FeedLine, load_acts
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.web.moments import number_label
from profile_app.rebuild.core import REBUILT, Flow
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import list_written

MAX_READ = 100  # entries: what is older counts as "more than"
MAX_SHOWN = 8
OWN_SHOWN = 4  # of these for the reader's own acts
TOGETHER = timedelta(hours=1)
Words = str | Promise


@dataclass(frozen=True, slots=True)
class FeedItem:
    """Acts of one kind by one actor with less than an hour between, and the time of the newest.

    `held` says how many texts the guard held, `tone` is the class of the dot.
    """

    at: datetime
    words: Words
    held: str
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
    """Return what happened to an owner's data, rebuilds with it, or to everyone's, for this reader. Four queries.

    The reader's own acts are read beside the newest, and have places of their own, whatever else happens.
    """
    rows, me = AuditEntry.objects.order_by("-at", "-pk"), f"user:{reader.pk}"
    theirs = rows if owner is EVERYONE else rows.filter(owner_id=owner.pk)
    reads = theirs, theirs.filter(actor=me)
    recent, own = (AuditEntry.objects.filter(pk__in=read.values("pk")[:MAX_READ]).values("pk") for read in reads)
    entries = list(rows.filter(pk__in=recent.union(own)).select_related("owner"))
    runs = [] if owner is EVERYONE else [entry_of(run) for run in list_written(owner)[:MAX_READ]]
    lines = {act.name: act.feed for act in load_acts().values() if act.feed}
    told = sorted([*entries, *runs], key=lambda entry: entry.at, reverse=True)
    newer = [entry for entry in entries if since and entry.at > since]
    groups = group_acts(entry for entry in told if act_of(entry) in lines)
    shown = [group for group in groups if group[0].actor == me][:OWN_SHOWN]
    shown += [group for group in groups if group not in shown][: MAX_SHOWN - len(shown)]
    owners = [group[0].owner for group in shown if group[0].owner]
    names = name_actors({group[0].actor for group in shown}, reader=reader, known=owners)
    counts = {
        name: sum(count_rows_of(entry.details) for entry in newer if act_of(entry) == name) for name in COUNTED_SINCE
    }
    mine = [entry for entry in entries if entry.actor == me]
    return Feed(
        items=[
            item_of(
                group,
                lines[act_of(group[0])],
                names,
                reader,
                is_cut=may_go_on(group, mine if group[0].actor == me else entries if group[0].pk else runs),
            )
            for group in groups
            if group in shown
        ],
        since=[str(COUNTED_SINCE[name] % counted(count)) for name, count in counts.items() if count],
        is_more=len(newer) >= MAX_READ,
    )


def entry_of(run: RebuildRun) -> AuditEntry:
    """Return what a rebuild wrote as the log would tell it: a rebuild has its own table of runs instead."""
    return AuditEntry(
        at=run.ended_at or run.started_at,
        actor=Flow(run.flow).actor,
        tool_call=REBUILT,
        owner=run.owner,
        details={"count": len(run.wrote)},
    )


def group_acts(entries: Iterable[AuditEntry]) -> list[list[AuditEntry]]:
    """Return acts of one kind that go together, the newest group first; those of an agent whatever its reasons."""
    groups: list[list[AuditEntry]] = []
    newest: dict[Any, list[AuditEntry]] = {}
    for entry in entries:
        why = "" if entry.actor.startswith(AGENTS) else entry.reasoning
        key = act_of(entry), entry.actor, entry.owner_id, why
        if key not in newest or newest[key][-1].at - entry.at > TOGETHER:
            newest[key] = []
            groups.append(newest[key])
        newest[key].append(entry)
    return groups


def may_go_on(group: Sequence[AuditEntry], read: Sequence[AuditEntry]) -> bool:
    """Say whether older acts may go together with these: reading stopped there."""
    gap = TOGETHER if group[0].actor.startswith(AGENTS) else timedelta()
    return len(read) >= MAX_READ and group[-1].at - read[MAX_READ - 1].at <= gap


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
    """Return the line of some entries that go together; of a cut group there may be more than were read."""
    newest, reasons = group[0], {entry.reasoning for entry in group}
    count = counted(sum(count_rows_of(entry.details) for entry in group), is_cut=is_cut)
    held = sum(entry.details.get("held", 0) for entry in group)
    owner = newest.owner if newest.owner_id != reader.pk else None
    return FeedItem(
        at=newest.at,
        words=line.text % count,
        held=_("%(number)s held") % counted(held, is_cut=is_cut) if held else "",
        tone=line.icon,
        actor=names[newest.actor],
        owner=owner.get_short_name() if owner else "",
        reason=reason_label(newest.reasoning) if len(reasons) == 1 else "",
        url=link_of(line, group, owner),
    )


def counted(count: int, *, is_cut: bool = False) -> dict[str, Any]:
    """Return a count for words that need it, as a number and as people read it; "100+" where that is cut."""
    return {"count": count + is_cut, "number": number_label(count) + "+" * is_cut}


def link_of(line: FeedLine, group: Sequence[AuditEntry], owner: User | None) -> str:
    """Return the address of the one object of some entries, or of the list of the owner (None: the reader)."""
    if line.item_page and len(group) == 1 and "id" in group[0].details:
        return reverse(line.item_page, args=[group[0].details["id"]])
    if not line.page:
        return ""
    return reverse(line.page) + (f"?{urlencode({'owner': owner.username})}" if owner else "")
