"""Events: what happened, told after it is committed. Names are the sources'; each carries ids, never content.

A receiver runs in the sender's process after commit; work that must not be lost is a job, not a receiver.
"""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.dispatch import Signal

memory_written = Signal()  # "memory:written": owner_id, memory_ids
fact_recorded = Signal()  # "fact:recorded": owner_id, memory_ids
trade_recorded = Signal()  # "trade:recorded": owner_id, trade_ids
trade_outcome_updated = Signal()  # "trade:outcome_updated": owner_id, trade_ids
perps_fills_recorded = Signal()  # "perps_fills:recorded": owner_id, count
external_spot_recorded = Signal()  # "external_spot:recorded": owner_id, count
prices_recorded = Signal()  # symbols: new prices are there, of the instance or of an owner
role_memory_changed = Signal()  # owner_id, entry_ids: a decision was recorded, judged, reflected, held or released


def send_after_commit(event: Signal, **facts: Any) -> None:
    """Send the event once the surrounding transaction has committed; nothing is sent when it rolls back."""
    send: Callable[[], Any] = lambda: event.send_robust(sender=None, **facts)  # noqa: E731
    transaction.on_commit(send)
