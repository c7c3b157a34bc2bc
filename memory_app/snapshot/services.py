"""Writes of which prompt carried which memory; ids only, in the transaction that freezes the prompt."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from memory_app.snapshot.models import SnapshotMemory

SLICE = 500


def record_carried(
    *,
    session_id: str,
    memory_ids: Iterable[int],
    now: datetime,
) -> None:
    """Keep which memories the frozen prompt of a session carries."""
    carried = [SnapshotMemory(session_id=session_id, memory_id=pk, frozen_at=now) for pk in dict.fromkeys(memory_ids)]
    SnapshotMemory.objects.bulk_create(carried, batch_size=SLICE)


def delete_carried(memory_ids: Sequence[int]) -> None:
    """Delete which prompts carried purged memories."""
    SnapshotMemory.objects.filter(memory_id__in=memory_ids).delete()
