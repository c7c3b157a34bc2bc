"""Who wrote how much lately, out of the newest entries of the audit log."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Min, TextChoices
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.memories.models import Memory
from memory_app.writes.core.entries import IMPORT, count_ids
from memory_app.writes.core.memories import WriteKind
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.changes.models import Change, ChangeSet
from minara_site.kernel.demo import AGENT_KEY
from minara_site.kernel.rollback import ChangesRollback, rollback_kinds, written_acts

MAX_READ = 10_000  # entries of the log: what is older is not counted, and the page says so
MAX_WRITERS, MAX_RUNS = 100, 50


class Period(TextChoices):
    """How far back a page looks."""

    DAY = "day", gettext_lazy("24 hours")
    WEEK = "week", gettext_lazy("7 days")
    MONTH = "month", gettext_lazy("30 days")

    @property
    def span(self) -> timedelta:
        return timedelta(days={Period.DAY: 1, Period.WEEK: 7, Period.MONTH: 30}[self])


@dataclass(slots=True)
class Writer:
    """How much one writer wrote, by effect. `name` is an actor of the log, or `import:` with a run by `actor`.

    One that `is_demo` wrote nothing: the load of the demo stored rows in its name, which go with the demo.
    """

    name: str
    actor: str
    last_at: datetime
    first_at: datetime
    counts: Counter[str] = field(default_factory=Counter)
    held: int = 0
    is_demo: bool = False


def load_writers(*, period: Period, now: datetime) -> tuple[list[Writer], datetime | None]:
    """Return who wrote in the period, the last first, and where reading stopped when it stopped early, at MAX_READ."""
    newest = AuditEntry.objects.filter(at__gte=now - period.span).order_by("-at", "-pk")
    entries = list(newest.values_list("actor", "tool_call", "at", "details")[:MAX_READ])
    effects, writers = written_acts(), dict[str, Writer]()
    for actor, tool_call, at, details in entries:
        if tool_call in effects:
            name = f"{IMPORT}{details['run']}" if "run" in details else actor
            writer = writers.setdefault(name, Writer(name, actor, last_at=at, first_at=at))
            writer.counts[effects[tool_call]] += count_ids(details)
            writer.held += details.get("held", 0)
            writer.first_at = at
    found = [*writers.values(), *load_runs(since=now - period.span), *load_demo_writers(since=now - period.span)]
    return found[:MAX_WRITERS], entries[-1][2] if len(entries) == MAX_READ else None


def load_runs(*, since: datetime) -> list[Writer]:
    """Return whose runs changed rows in the period; they are sets of changes, and not in the log. One query."""
    effects = {
        kind.facet.name: kind.effects[0].name
        for kind in rollback_kinds()
        if isinstance(kind, ChangesRollback) and kind.of_runs
    }
    changes = Change.objects.filter(set__at__gte=since, set__run__isnull=False, set__actor__startswith="job:")
    rows = changes.filter(kind__in=effects).values("set__actor", "kind")
    writers = dict[str, Writer]()
    for row in rows.annotate(first=Min("set__at"), last=Max("set__at"), count=Count("pk")):
        actor = row["set__actor"]
        writer = writers.setdefault(actor, Writer(actor, actor, row["last"], row["first"]))
        writer.counts[effects[row["kind"]]] += row["count"]
        writer.last_at, writer.first_at = max(writer.last_at, row["last"]), min(writer.first_at, row["first"])
    return list(writers.values())


def list_runs(writer: str) -> list[Any]:
    """Return `run`, `at`, `count` of rows and whose they are of the newest runs in which a job changed some."""
    runs = ChangeSet.objects.filter(actor=writer, run__isnull=False).order_by("-at", "-pk")
    return list(runs.values("run", "at", count=Count("changes"), of=Min("changes__owner__username"))[:MAX_RUNS])


def load_demo_writers(*, since: datetime) -> list[Writer]:
    """Return in whose name the demo has memories of the period. They are not in the log. One query."""
    rows = Memory.objects.filter(is_demo=True, actor=AGENT_KEY, updated_at__gte=since).values("actor")
    found = rows.annotate(
        first=Min("updated_at"),
        last=Max("updated_at"),
        count=Count("pk"),
        held=Count("held_at"),
    )
    return [
        Writer(
            row["actor"],
            row["actor"],
            row["last"],
            row["first"],
            Counter({WriteKind.CREATED.value: row["count"]}),
            row["held"],
            is_demo=True,
        )
        for row in found
    ]


def name_writers(writers: Mapping[str, str], *, reader: User) -> dict[str, str]:
    """Return in words who stands behind each writer; `writers` holds the actor of each. Two queries at most."""
    names = name_actors(writers.values(), reader=reader)
    return {
        writer: _("an import by %(who)s") % {"who": names[actor]} if writer.startswith(IMPORT) else names[actor]
        for writer, actor in writers.items()
    }
