"""What anomalies are found in: the newest memories, holds and entries of the audit log, all bounded."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, Count, F, IntegerField, Min, Q, QuerySet, Sum, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Left

from memory_app.memories.models import Memory
from memory_app.memories.services.write import runs_of
from memory_app.writes.core.anomalies import (
    AGENTS,
    HOUR,
    LAST_HELD_MIN,
    Anomaly,
    AnomalyInput,
    WriteRate,
    find_anomalies,
    find_held,
)
from memory_app.writes.core.entries import IMPORT, id_runs
from memory_app.writes.core.memories import IMPORT_ACTS
from memory_app.writes.selectors.plans import entries_of
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.demo import AGENT_KEY as DEMO_KEY
from minara_site.kernel.guard.core import OWNER_DECIDES
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.kernel.prepared import Prepared
from minara_site.kernel.rollback import written_acts

SPAN = timedelta(days=1)
MAX_TEXTS = 1_000  # memories of all owners; the older of them say which addresses are known
MAX_CHARS = 400
MAX_ENTRIES = 10_000
MAX_RUNS = 200  # of ids, of one import
OF_AGENTS = Q(*(("actor__startswith", prefix) for prefix in AGENTS), _connector=Q.OR)
WRITTEN = Coalesce(Cast(KeyTextTransform("count", "details"), IntegerField()), Value(1))


def load_anomalies(*, now: datetime) -> list[Anomaly]:
    """Return what is unusual among the writes of agents in the last 24 hours. Three queries at most."""
    beginning = Left("content", MAX_CHARS, output_field=TextField())
    texts = Memory.objects.live().order_by("-updated_at", "-id").values_list("pk", "actor", beginning, "updated_at")
    no_text = Value("", output_field=TextField())
    holds = list_held(owner=EVERYONE, now=now).values_list(Value(0), "actor", no_text, "held_at")
    rows = Prepared(AnomalyInput, lambda: (texts[:MAX_TEXTS], holds[:MAX_ENTRIES])).ask()
    held = find_held_writes(((row.actor, row.at) for row in rows if not row.id), owner=EVERYONE, now=now)
    agents = list(count_writes(now=now))
    read_since = now - SPAN
    if sum(row["entries"] for row in agents) >= MAX_ENTRIES:  # the bound came first
        read_since = min(row["oldest_at"] for row in agents)
    hours = max((now - HOUR - read_since) / HOUR, 0.0)
    rates = [
        WriteRate(
            row["actor"],
            row["last_hour"],
            row["before"],
            hours,
            row["since"],
        )
        for row in agents
    ]
    return [*held, *find_anomalies([row for row in rows if row.id], rates, since=now - SPAN)]


def load_held(*, owner: Owner, now: datetime) -> list[Anomaly]:
    """Return the agents many of whose texts the guard held in the last 24 hours. Two queries at most."""
    holds = list_held(owner=owner, now=now).values_list("actor", "held_at")
    return find_held_writes(holds[:MAX_ENTRIES], owner=owner, now=now)


def list_held(*, owner: Owner, now: datetime) -> "QuerySet[Hold]":
    """Return the holds of texts by agents, discarded ones too, the newest first.

    What a person released is left out, and what waits for its owner in any case.
    """
    holds = Hold.objects.for_owner(owner).filter(OF_AGENTS, held_at__gte=now - SPAN, undone_at=None)
    left_out = Q(decision=Decision.RELEASED) | Q(reason=OWNER_DECIDES) | Q(actor=DEMO_KEY)
    return holds.exclude(left_out).order_by("-held_at", "-pk")


def find_held_writes(holds: Iterable[tuple[str, datetime]], *, owner: Owner, now: datetime) -> list[Anomaly]:
    """Return the agents many of whose writes were held: writers and moments. One query, none without a suspect."""
    held, written = defaultdict[str, list[datetime]](list), defaultdict[str, list[datetime]](list)
    for actor, at in holds:
        held[actor].append(at)
    if suspects := [actor for actor, moments in held.items() if len(moments) >= LAST_HELD_MIN]:
        entries = AuditEntry.objects.filter(actor__in=suspects, at__gte=now - SPAN, tool_call__in=written_acts())
        own = entries if owner is EVERYONE else entries.filter(owner_id=owner.pk)
        newest = own.annotate(written=WRITTEN).order_by("-at", "-pk")
        for actor, at, count in newest.values_list("actor", "at", "written")[:MAX_ENTRIES]:
            written[actor] += [at] * count
    found = (find_held(actor, held[actor], written[actor]) for actor in suspects)
    return [each for each in found if each]


def count_writes(*, now: datetime) -> "QuerySet[Any]":
    """Return how much each agent wrote in the last hour, since when in it, and before, with the entries that say so."""
    hour_ago = now - HOUR
    newest = AuditEntry.objects.filter(at__gte=now - SPAN).order_by("-at", "-pk").values("pk")[:MAX_ENTRIES]
    rows = AuditEntry.objects.filter(
        OF_AGENTS,
        pk__in=newest,
        tool_call__in=written_acts(),
    )
    return (
        rows.annotate(written=WRITTEN)
        .values("actor")
        .annotate(
            entries=Count("pk"),
            since=Min("at", filter=Q(at__gte=hour_ago)),
            oldest_at=Min("at"),
            last_hour=Sum(Case(When(at__gte=hour_ago, then=F("written")), default=0)),
            before=Sum(Case(When(at__lt=hour_ago, then=F("written")), default=0)),
        )
    )


def list_rows_of(writer: str) -> "QuerySet[Memory]":
    """Return the memories that this writer wrote last, or that this run of an import stored, unordered."""
    if not writer.startswith(IMPORT):
        return Memory.objects.filter(actor=writer)
    entries = entries_of(writer).filter(tool_call__in=IMPORT_ACTS).order_by("pk").values_list("details", flat=True)
    runs = (run for details in entries[:MAX_ENTRIES] for run in id_runs(details))
    ranges = Q(pk__in=())
    for run in runs_of({pk for first, last in runs for pk in range(first, last + 1)})[:MAX_RUNS]:
        ranges |= Q(pk__range=run)
    return Memory.objects.filter(ranges)
