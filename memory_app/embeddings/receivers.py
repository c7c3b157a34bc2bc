"""What is written is embedded soon after it is committed (S1: the write itself stays without)."""

from typing import Any

from django.utils import timezone

from memory_app.embeddings.providers import is_enabled
from memory_app.embeddings.services import request_embedding
from minara_site.kernel.events import memory_written


def embed_soon(memory_ids: tuple[int, ...], **facts: Any) -> None:
    """Ask for a run that embeds these memories; with the provider disabled, do nothing at all."""
    if is_enabled():
        request_embedding(memory_ids, now=timezone.now())


def listen() -> None:
    """Hear what is written; called once a process."""
    memory_written.connect(embed_soon, dispatch_uid="embeddings")
