"""What anomalies are found in: the newest memories and the newest entries of the audit log, both bounded."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, Count, F, IntegerField, Min, Q, QuerySet, Sum, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Left

from memory_app.memories.models import Memory
from memory_app.memories.services.write import runs_of
from memory_app.writes.core.anomalies import AGENTS, Anomaly, AnomalyInput, WriteRate, find_anomalies
from memory_app.writes.core.entries import IMPORT, id_runs
from memory_app.writes.core.memories import IMPORT_ACTS
from memory_app.writes.selectors.plans import entries_of
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.rollback import written_acts

SPAN = timedelta(days=1)
HOUR = timedelta(hours=1)
MAX_TEXTS = 1_000  # memories of all owners; the older of them say which addresses are known
MAX_CHARS = 400
MAX_ENTRIES = 10_000
MAX_RUNS = 200  # of ids, of one import


def load_anomalies(*, now: datetime) -> list[Anomaly]:
    """Return what is unusual among the writes of agents in the last 24 hours. Two queries."""
    beginning = Left("content", MAX_CHARS, output_field=TextField())
    rows = Memory.objects.live().order_by("-updated_at", "-id").values_list("pk", "actor", beginning, "updated_at")
    texts = [AnomalyInput(*row) for row in rows[:MAX_TEXTS]]
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
    return find_anomalies(texts, rates, since=now - SPAN)


def count_writes(*, now: datetime) -> "QuerySet[Any]":
    """Return how much each agent wrote in the last hour, since when in it, and before, with the entries that say so."""
    hour_ago = now - HOUR
    newest = AuditEntry.objects.filter(at__gte=now - SPAN).order_by("-at", "-pk").values("pk")[:MAX_ENTRIES]
    is_agent = Q()
    for prefix in AGENTS:
        is_agent |= Q(actor__startswith=prefix)
    rows = AuditEntry.objects.filter(
        is_agent,
        pk__in=newest,
        tool_call__in=written_acts(),
    )
    written = Coalesce(Cast(KeyTextTransform("count", "details"), IntegerField()), Value(1))
    return (
        rows.annotate(written=written)
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
        by_actor: QuerySet[Memory] = Memory.objects.filter(actor=writer)
        return by_actor
    entries = entries_of(writer).filter(tool_call__in=IMPORT_ACTS).order_by("pk").values_list("details", flat=True)
    runs = (run for details in entries[:MAX_ENTRIES] for run in id_runs(details))
    ranges = Q(pk__in=())
    for run in runs_of({pk for first, last in runs for pk in range(first, last + 1)})[:MAX_RUNS]:
        ranges |= Q(pk__range=run)
    stored: QuerySet[Memory] = Memory.objects.filter(ranges)
    return stored
