"""Who wrote how much lately, out of the newest entries of the audit log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from memory_app.memories.models import Memory
from memory_app.writes.core.entries import IMPORT, WRITES, Done, count_ids, id_runs, merge_runs
from memory_app.writes.selectors.plans import entries_of
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry

MOST_READ = 10_000  # entries of the log: what is older is not counted, and the page says so
MOST_WRITERS = 100
MOST_RUNS = 200


class Window(StrEnum):
    """How far back a page looks."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    @property
    def span(self) -> timedelta:
        """Return its length."""
        return {Window.DAY: timedelta(days=1), Window.WEEK: timedelta(days=7), Window.MONTH: timedelta(days=30)}[self]


@dataclass(slots=True)
class Writer:
    """How much one writer wrote. `name` is an actor of the log, or `import:` with a run; `actor` is who ran it."""

    name: str
    actor: str
    first_at: datetime
    last_at: datetime
    counts: dict[Done, int] = field(default_factory=lambda: dict.fromkeys(Done, 0))
    held: int = 0

    def add(self, tool_call: str, at: datetime, details: Mapping[str, Any]) -> None:
        """Count one entry; they come newest first."""
        self.counts[WRITES[tool_call]] += count_ids(details)
        self.held += details.get("held", 0)
        self.first_at = at


@dataclass(frozen=True, slots=True)
class Writers:
    """The writers of a window, who wrote last first; `read_since` is where reading stopped when it stopped early."""

    rows: tuple[Writer, ...]
    read_since: datetime | None


def load_writers(*, window: Window, now: datetime) -> Writers:
    """Return who wrote in the window. One query, that reads at most MOST_READ entries."""
    newest = AuditEntry.objects.filter(at__gte=now - window.span).order_by("-at", "-pk")
    entries = list(newest.values_list("actor", "tool_call", "at", "details")[:MOST_READ])
    writers: dict[str, Writer] = {}
    for actor, tool_call, at, details in entries:
        if tool_call in WRITES:
            name = f"{IMPORT}{details['run']}" if "run" in details else actor
            writers.setdefault(name, Writer(name, actor, at, at)).add(tool_call, at, details)
    is_cut = len(entries) == MOST_READ
    return Writers(tuple(writers.values())[:MOST_WRITERS], entries[-1][2] if is_cut else None)


def list_rows_of(writer: str) -> "QuerySet[Memory]":
    """Return the memories that this writer wrote last, or that this run of an import stored, unordered."""
    if not writer.startswith(IMPORT):
        by_actor: QuerySet[Memory] = Memory.objects.filter(actor=writer)
        return by_actor
    entries = entries_of(writer).order_by("pk").values_list("details", flat=True)[:MOST_READ]
    runs = merge_runs(run for details in entries for run in id_runs(details))
    ranges = Q(pk__in=())
    for first, last in runs[:MOST_RUNS]:
        ranges |= Q(pk__range=(first, last))
    stored: QuerySet[Memory] = Memory.objects.filter(ranges)
    return stored


def name_writers(writers: Mapping[str, str], *, reader: User) -> dict[str, str]:
    """Return in words who stands behind each writer; `writers` holds the actor of each. Two queries at most."""
    names = name_actors(writers.values(), reader=reader)
    return {
        writer: _("an import by %(who)s") % {"who": names[actor]} if writer.startswith(IMPORT) else names[actor]
        for writer, actor in writers.items()
    }
