"""Asking for the sweep that settles recorded facts. Source: S1 (`fact:recorded`)."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from minara_site.kernel.jobs.services import request_run_later

CONSOLIDATE = "facts.consolidate"


def ask_for_sweep(**event: Any) -> None:
    """Receive `fact:recorded`: a sweep comes at the end of the debounce window, one however many facts ask for it."""
    now = timezone.now()
    wait = timedelta(seconds=settings.MINARA.minara_fact_debounce_seconds)
    request_run_later(
        CONSOLIDATE,
        not_before=now + wait,
        now=now,
        requested_by="schedule",
    )
