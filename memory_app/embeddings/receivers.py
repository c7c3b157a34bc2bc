"""What is written is embedded soon after it is committed (S1: the write itself stays without)."""

from typing import Any

from django.utils import timezone

from memory_app.embeddings.providers import is_enabled
from memory_app.embeddings.services import request_embedding
from memory_app.index.core.document import Kind
from minara_site.kernel.events import memory_written, role_memory_changed


def embed_soon(memory_ids: tuple[int, ...], **facts: Any) -> None:
    """Ask for a run that embeds these memories; with the provider disabled, do nothing at all."""
    if is_enabled():
        request_embedding(memory_ids, now=timezone.now())


def embed_entries_soon(entry_ids: tuple[int, ...], **facts: Any) -> None:
    """Ask for a run that embeds these entries of role memory; with the provider disabled, do nothing at all."""
    if is_enabled():
        request_embedding(entry_ids, now=timezone.now(), kind=Kind.ROLE_MEMORY)


def listen() -> None:
    """Hear what is written; called once a process."""
    memory_written.connect(embed_soon, dispatch_uid="embeddings")
    role_memory_changed.connect(embed_entries_soon, dispatch_uid="embeddings")
