"""What the worker does for embeddings: what waits, every five minutes; all that is to be repaired, every hour."""

from datetime import datetime, timedelta
from typing import Any

from memory_app.embeddings import services
from memory_app.embeddings.providers import is_enabled
from minara_site.kernel.jobs.services import Claim

EMBED_EVERY = timedelta(minutes=5) if is_enabled() else None
BACKFILL_EVERY = timedelta(hours=1) if is_enabled() else None
"""No schedule while the provider is disabled: then nothing here costs anything."""


def embed_pending(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Embed what is pending; running it again finds nothing more."""
    return services.embed_pending(now=now, claim=claim)


def backfill(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Embed what is pending, failed or out of date; running it again tries only what failed."""
    return services.backfill_embeddings(now=now, claim=claim)
