"""Recording a fact, and asking for the sweep that will settle it. Source: S1 (`recordFact`, `fact:recorded`)."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memory
from minara_site.kernel.events import fact_recorded, send_after_commit
from minara_site.kernel.jobs.services import request_run_later

CONSOLIDATE = "facts.consolidate"


def record_fact(*, owner_id: int, draft: Draft, now: datetime, reasoning: str = "") -> Memory:
    """Store a fact as pending; a text that the guard refuses is held. Raises Invalid when a field cannot be stored.

    A sweep settles it later, so that the turn never waits for consolidation.
    """
    with transaction.atomic():
        fact = write_memory(owner_id=owner_id, draft=draft, now=now, reasoning=reasoning)
        send_after_commit(fact_recorded, owner_id=owner_id, memory_ids=(fact.pk,))
    return fact


def ask_for_sweep(**event: Any) -> None:
    """Receive `fact:recorded`: a sweep comes at the end of the debounce window, one however many facts ask for it."""
    now = timezone.now()
    wait = timedelta(seconds=settings.MINARA.minara_fact_debounce_seconds)
    request_run_later(CONSOLIDATE, not_before=now + wait, now=now, requested_by="schedule")
