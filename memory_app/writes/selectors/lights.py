"""What the anomaly lights look at: the newest memories and the newest entries of the audit log, both bounded."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Case, Count, F, IntegerField, Min, Q, QuerySet, Sum, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Left

from memory_app.memories.models import Memory
from memory_app.writes.core.entries import WRITES
from memory_app.writes.core.lights import AGENTS, Light, Pace, Written, find_lights
from minara_site.kernel.audit_log.models import AuditEntry

LOOKS_BACK = timedelta(days=1)
HOUR = timedelta(hours=1)
MOST_TEXTS = 1_000  # memories of everybody; the older of them tell which addresses are known
MOST_CHARS = 400
MOST_ENTRIES = 10_000


class AgentWrites(NamedTuple):
    """How much an agent wrote: `entries` of the log, of which the first in the last hour was at `since`."""

    actor: str
    entries: int
    since: datetime | None
    oldest_at: datetime
    last_hour: int
    before: int


def load_lights(*, now: datetime) -> list[Light]:
    """Return what stands out among the writes of agents in the last 24 hours. Two queries."""
    texts = [Written(*row) for row in newest_texts()]
    agents = [AgentWrites(*row) for row in writes_of_agents(now=now)]
    hours = hours_before(agents, now=now)
    paces = [
        Pace(row.actor, row.last_hour, row.before, hours, row.since) for row in agents if row.since and row.last_hour
    ]
    return find_lights(texts, paces, since=now - LOOKS_BACK)


def hours_before(agents: Sequence[AgentWrites], *, now: datetime) -> float:
    """Return how many hours before the last one were read: all of the day, unless the bound came first."""
    reached = now - LOOKS_BACK
    if sum(row.entries for row in agents) >= MOST_ENTRIES:
        reached = min(row.oldest_at for row in agents)
    return max((now - HOUR - reached) / HOUR, 0.0)


def newest_texts() -> "QuerySet[Any]":
    """Return id, actor, beginning and moment of the memories that changed last, the newest first."""
    beginning = Left("content", MOST_CHARS, output_field=TextField())
    rows = Memory.objects.live().order_by("-updated_at", "-id").annotate(beginning=beginning)
    texts: QuerySet[Any] = rows.values_list("pk", "actor", "beginning", "updated_at")[:MOST_TEXTS]
    return texts


def writes_of_agents(*, now: datetime) -> "QuerySet[Any]":
    """Return how much each agent wrote in the last hour, since when in it, and in the hours before."""
    hour_ago = now - HOUR
    newest = AuditEntry.objects.filter(at__gte=now - LOOKS_BACK).order_by("-at", "-pk").values("pk")[:MOST_ENTRIES]
    is_agent = Q()
    for prefix in AGENTS:
        is_agent |= Q(actor__startswith=prefix)
    rows = AuditEntry.objects.filter(is_agent, pk__in=newest, tool_call__in=WRITES)
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
        .values_list(*AgentWrites._fields)
    )
