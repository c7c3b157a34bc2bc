"""Runs that embed: what is pending, and again what failed or is out of date. Source: S1 (hybrid retrieval)."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import structlog
from django.db import transaction
from django.utils.translation import gettext as _

from memory_app.embeddings.adapters import EmbeddingProvider
from memory_app.embeddings.batches import Counts, drop_unneeded, embed_batch
from memory_app.embeddings.models import MemoryVector
from memory_app.embeddings.providers import current_provider, is_enabled
from memory_app.embeddings.selectors import BACKFILL, EMBED, count_work, known_dimensions
from memory_app.index.core.document import Kind
from memory_app.index.derived import DerivedTable, derived_table, derived_tables
from memory_app.memories.core import EmbeddingState
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict
from minara_site.kernel.jobs.leases import KeptLease, kept_lease
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import DROPPED, Claim, report_progress, request_run, request_run_later
from minara_site.kernel.jobs.time_budget import TimeBudget

ON_WRITE = "event:memory_written"
LEASE, LEASE_SECONDS = "embeddings", 30
UNDER_WAY = (RunState.QUEUED, RunState.RUNNING)
TIME_BUDGET_SECONDS = 30  # of one run
MAX_LOOKED_AT = 200  # of the rows of one event

Batch = tuple[DerivedTable, list[int]]

log = structlog.get_logger(__name__)


def embed_pending(
    *,
    now: datetime,
    claim: Claim | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """Embed what is pending. Returns and raises what `backfill_embeddings` does."""
    return run(EMBED, now=now, claim=claim, limit=limit)


def backfill_embeddings(
    *,
    now: datetime,
    claim: Claim | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """Embed what is pending, failed or out of date; return how many were embedded, skipped, failed, changed.

    `changed` got another text meanwhile and wait for the next run. With the provider disabled nothing is done, nor
    while another run embeds, which the result says. When its time is spent it requests a run for the rest; when
    nothing could be embedded in that time, the schedule does.
    Raises ProviderDown when the provider does not answer, and Misconfigured.
    """
    return run(BACKFILL, now=now, claim=claim, limit=limit)


def run(
    job: str,
    *,
    now: datetime,
    claim: Claim | None,
    limit: int | None,
) -> dict[str, Any]:
    """Embed batch by batch until nothing waits, the limit is reached or the time is over."""
    counts, provider, is_continued = Counts(), current_provider(), False
    if provider is None:
        return counts.as_dict()
    budget = TimeBudget.start(TIME_BUDGET_SECONDS)
    total = count_work(provider.label, failed=job == BACKFILL)
    with only_one(now=now) as lease:
        if lease is None:
            return {"result": DROPPED}
        for source, ids in batches_of(job, provider):
            chosen = ids[: None if limit is None else limit - counts.total]
            counts += embed_batch(provider, chosen, source=source, now=now)
            report_progress(claim, counts.total, total)
            if counts.total == limit or lease.lost.is_set():
                break
            if budget.is_spent:
                is_continued = counts.embedded > 0
                break
    if is_continued:  # the lease is free again by now
        request_run(job, {}, now=now, requested_by=f"job:{job}")
    log.info("memories_embedded", job=job, **counts.as_dict())
    return counts.as_dict()


def only_one(*, now: datetime) -> AbstractContextManager[KeptLease | None]:
    """Hold the lease of all that embeds during the block; None says that another has it and would pay for the same."""
    return kept_lease(LEASE, seconds=LEASE_SECONDS, now=now)


def batches_of(job: str, provider: EmbeddingProvider) -> Iterator[Batch]:
    """Yield the ids of what a job embeds, batch by batch; memories come first, because searches wait for them."""
    yield from pending_batches(provider.batch_size)
    if job == BACKFILL:
        for source in derived_tables():
            yield from ((source, ids) for ids in outdated_batches(source, provider.label, provider.batch_size))
        yield from state_batches(EmbeddingState.FAILED, provider.batch_size)


def pending_batches(size: int) -> Iterator[Batch]:
    """Yield what is pending until nothing is: what is written or edited meanwhile, too."""
    found = True
    while found:
        found = False
        for batch in state_batches(EmbeddingState.PENDING, size):
            found = True
            yield batch


def state_batches(state: EmbeddingState, size: int) -> Iterator[Batch]:
    """Yield the rows of a state, each once, along the index."""
    for source in derived_tables():
        rows = source.to_embed.filter(embedding_state=state).order_by("pk").values_list("pk", flat=True)
        last = 0
        while ids := list(rows.filter(pk__gt=last)[:size]):
            yield source, ids
            last = ids[-1]


def outdated_batches(
    source: DerivedTable,
    label: str,
    size: int,
) -> Iterator[list[int]]:
    """Yield the rows whose vector is of another model, or of another length than this model's answers are now.

    Each once, along the index; the vector is dropped where none is needed.
    """
    vectors = MemoryVector.objects.filter(kind=source.kind)
    others = vectors.exclude(model=label).order_by().values_list("model", flat=True).distinct()
    groups = [vectors.filter(model=model) for model in others]
    if dimensions := known_dimensions(label):
        groups.append(vectors.filter(model=label).exclude(dimensions=dimensions))
    for group in groups:
        rows = group.order_by("object_id").values_list("object_id", flat=True)
        last = 0
        while ids := list(rows.filter(object_id__gt=last)[:size]):
            drop_unneeded(ids, source)
            yield ids
            last = ids[-1]


def start_backfill(*, principal: Principal, now: datetime) -> tuple[JobRun, bool]:
    """Ask for a backfill; return its run and whether it is new. Raises Conflict while no provider is set."""
    if not is_enabled():
        raise Conflict(_("No embedding provider is set; EMBEDDING_PROVIDER names one."), code="provider_disabled")
    with transaction.atomic():
        if waiting := JobRun.objects.filter(job=BACKFILL, state__in=UNDER_WAY).order_by("created_at").first():
            return waiting, False
        made = request_run(BACKFILL, {}, now=now, requested_by=principal.actor)
        details = {"run": made.pk, "job": BACKFILL}
        record_audit(
            now=now,
            actor=principal.actor,
            tool_call="job_requested",
            details=details,
        )
    return made, True


def request_embedding(
    ids: tuple[int, ...],
    *,
    now: datetime,
    kind: Kind = Kind.MEMORY,
) -> bool:
    """Ask for a run at the next tick when one of these rows waits for its vector; say whether it was asked for.

    One run that is to come is enough for all that is written until then. What is missed here, the schedule finds.
    """
    table = derived_table(kind)
    waiting = table.to_embed.filter(pk__in=ids[:MAX_LOOKED_AT], embedding_state=EmbeddingState.PENDING)
    return waiting.exists() and request_run_later(EMBED, not_before=now, now=now, requested_by=ON_WRITE)
