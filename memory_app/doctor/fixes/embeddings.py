"""Embeds what is pending or failed. S1's backfill; vectors of other models are left to the job of the embeddings."""

from itertools import chain

from django.utils import timezone
from django.utils.translation import gettext_lazy

from memory_app.doctor.fixes.names import FixName
from memory_app.embeddings.adapters import EmbeddingProvider
from memory_app.embeddings.batches import Counts, embed_batch
from memory_app.embeddings.providers import current_provider
from memory_app.embeddings.services import TIME_BUDGET_SECONDS, only_one, pending_batches, state_batches
from memory_app.index.core.document import Kind
from memory_app.index.derived import derived_table, derived_tables
from memory_app.memories.core import EmbeddingState
from minara_site.kernel.doctor.fixes import SAMPLE, DryRun, Fix, FixAudit
from minara_site.kernel.jobs.leases import KeptLease
from minara_site.kernel.jobs.services import DROPPED, Claim, report_progress, request_run
from minara_site.kernel.jobs.time_budget import TimeBudget

STATES = (EmbeddingState.PENDING, EmbeddingState.FAILED)


def dry_run(claim: Claim | None) -> DryRun:
    """Count what waits for a vector; without a provider nothing would be done. The sample is of memories."""
    if current_provider() is None:
        return DryRun(dict.fromkeys(STATES, 0))
    counts = {state.value: count_waiting(state) for state in STATES}
    memories = derived_table(Kind.MEMORY).to_embed.filter(embedding_state__in=STATES)
    sample = memories.order_by("pk").values_list("pk", flat=True)[:SAMPLE]
    return DryRun(counts, tuple(sample))


def apply(audit: FixAudit, claim: Claim | None) -> dict[str, int]:
    """Embed batch by batch; the texts are asked for with no transaction open.

    Without a provider nothing is done, nor while another run embeds, which `dropped` says. `left` is what a job hands
    on after its turn. Raises ProviderDown.
    """
    provider = current_provider()
    if provider is None:
        return Counts().as_dict()
    with only_one(now=timezone.now()) as lease:
        if lease is None:
            return {DROPPED: 1}
        counts, is_continued = embed_waiting(provider, lease, audit, claim)
    return counts.as_dict() | (continue_later(claim, audit) if claim and is_continued else {})


def embed_waiting(
    provider: EmbeddingProvider,
    lease: KeptLease,
    audit: FixAudit,
    claim: Claim | None,
) -> tuple[Counts, bool]:
    """Embed what is pending, then once more what failed, while the lease is ours; say whether another run goes on.

    Raises ProviderDown.
    """
    counts, size, total = Counts(), provider.batch_size, count_waiting(*STATES)
    budget = TimeBudget.start(TIME_BUDGET_SECONDS)
    for source, ids in chain(pending_batches(size), state_batches(EmbeddingState.FAILED, size)):
        if lease.lost.is_set():
            break
        counts += embed_batch(
            provider,
            ids,
            source=source,
            now=audit.now,
            also=audit.write,
        )
        report_progress(claim, counts.total, total)
        if claim and budget.is_spent:
            return counts, counts.embedded > 0
    return counts, False


def count_waiting(*states: EmbeddingState) -> int:
    """Return how many rows this fix embeds."""
    return sum(source.to_embed.filter(embedding_state__in=states).count() for source in derived_tables())


def continue_later(claim: Claim, audit: FixAudit) -> dict[str, int]:
    """Ask for another run of this fix when something is left; return how much."""
    left = count_waiting(*STATES)
    if not left:
        return {}
    arguments = {**claim.arguments, "names": [audit.name]}
    request_run(
        claim.job,
        arguments,
        now=audit.now,
        requested_by=f"job:{claim.job}",
    )
    return {"left": left}


EMBEDDINGS = Fix(
    FixName.EMBEDDINGS,
    gettext_lazy("Vectors"),
    gettext_lazy("Embeds the memories and decisions whose vector is pending or failed."),
    dry_run,
    apply,
)
