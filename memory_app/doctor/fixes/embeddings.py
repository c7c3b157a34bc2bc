"""Embeds what is pending or failed. S1's backfill; vectors of other models are left to the job of the embeddings."""

from itertools import chain

from django.utils.translation import gettext_lazy

from memory_app.doctor.fixes.contract import SAMPLE, Fix, FixName, Foreseen, Journal
from memory_app.embeddings.adapters import EmbeddingProvider
from memory_app.embeddings.batches import Counts, embed_batch
from memory_app.embeddings.providers import current_provider
from memory_app.embeddings.selectors import to_embed
from memory_app.embeddings.services import only_one, pending_batches, state_batches
from memory_app.memories.core import EmbeddingState
from minara_site.kernel.jobs.services import Claim, report_progress

STATES = (EmbeddingState.PENDING, EmbeddingState.FAILED)


def foresee(claim: Claim | None) -> Foreseen:
    """Count what waits for a vector; without a provider nothing would be done."""
    if current_provider() is None:
        return Foreseen(dict.fromkeys(STATES, 0))
    rows = to_embed()
    counts = {state.value: rows.filter(embedding_state=state).count() for state in STATES}
    sample = rows.filter(embedding_state__in=STATES).order_by("pk").values_list("pk", flat=True)[:SAMPLE]
    return Foreseen(counts, tuple(sample))


def apply(journal: Journal, claim: Claim | None) -> dict[str, int]:
    """Embed batch by batch; the texts are asked for with no transaction open.

    Without a provider, or while another run embeds, nothing is done. Raises ProviderDown.
    """
    provider = current_provider()
    if provider is None:
        return Counts().as_dict()
    with only_one(claim, now=journal.now) as is_ours:
        return embed_waiting(provider, journal, claim).as_dict() if is_ours else Counts().as_dict()


def embed_waiting(provider: EmbeddingProvider, journal: Journal, claim: Claim | None) -> Counts:
    """Embed what is pending, then once more what failed. Raises ProviderDown."""
    counts, size = Counts(), provider.batch_size
    total = to_embed().filter(embedding_state__in=STATES).count()
    for ids in chain(pending_batches(size), state_batches(EmbeddingState.FAILED, size)):
        counts += embed_batch(provider, ids, now=journal.now, also=journal.write)
        report_progress(claim, counts.total, total)
    return counts


EMBEDDINGS = Fix(
    FixName.EMBEDDINGS, gettext_lazy("Embeds the memories whose vector is pending or failed."), foresee, apply
)
