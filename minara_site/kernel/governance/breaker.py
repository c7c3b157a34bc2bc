"""The circuit breaker: after failures in a row nothing is called for a while, then one call tries. Source: S1.

A row, so that it holds between all processes. Its rule is `core.Circuit`; before and after every call it costs one
read, and nothing is written while nothing fails.
"""

import math
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.db import fetch_row
from minara_site.kernel.errors import Conflict, Invalid, Unavailable
from minara_site.kernel.governance.core import LONGEST_WAIT, Phase
from minara_site.kernel.governance.models import CircuitBreaker
from minara_site.kernel.governance.selectors import circuit_of
from minara_site.kernel.governance.services import checked_reason
from minara_site.kernel.plain_text import storable_problem

PROBE_SECONDS = 300  # what a call may take with all its retries; the next one may try once that is over
CLOSED = {"failures": 0, "trips": 0, "open_until": None, "probe_until": None}

log = structlog.get_logger(__name__)


class CircuitOpen(Unavailable):
    """Too many calls failed in a row: the breaker lets none through until its time is over."""

    code = "circuit_open"


def require_closed(
    name: str,
    *,
    now: datetime,
    probe_seconds: float = PROBE_SECONDS,
) -> bool:
    """Let a call through and say whether it is the probe, or raise CircuitOpen. One read while nothing fails.

    Once its time is over it lets one caller of all processes through, as the probe. That one says how it went by
    `record_success` or `record_failure`, or by `give_up_probe` when it called nothing.
    """
    if not is_failing(name):
        return False
    circuit = circuit_of(CircuitBreaker.objects.filter(pk=name).first())
    phase = circuit.phase(now)
    if phase is Phase.CLOSED:
        return False
    if phase is Phase.DUE and take_probe(name, now=now, seconds=probe_seconds):
        log.info("circuit_probed", breaker=name)
        return True
    at = circuit.tries_again_at(now) or now + timedelta(seconds=probe_seconds)
    wait = math.ceil((at - now).total_seconds())
    sentence = _("Calls keep failing, so none is made for %(seconds)s seconds. Nothing is lost; try again then.")
    raise CircuitOpen(sentence % {"seconds": wait}, retry_after_seconds=wait)


def is_failing(name: str) -> bool:
    """Say whether the last call failed, whoever made it."""
    failures, open_until = fetch_row(CircuitBreaker, name, "failures", "open_until") or (0, None)
    return failures > 0 or open_until is not None


def take_probe(name: str, *, now: datetime, seconds: float) -> bool:
    """Become the one call that tries; False says that another is."""
    latest = now + LONGEST_WAIT
    due = CircuitBreaker.objects.filter(
        Q(open_until__lte=now) | Q(open_until__gt=latest),
        pk=name,
    )
    free = due.filter(Q(probe_until__isnull=True) | Q(probe_until__lte=now) | Q(probe_until__gt=latest))
    return free.update(probe_until=now + timedelta(seconds=seconds)) == 1


def give_up_probe(name: str) -> None:
    """Let another call be the probe, because this one called nothing."""
    CircuitBreaker.objects.filter(pk=name, probe_until__isnull=False).update(probe_until=None)


def record_failure(name: str, *, error: str, now: datetime) -> None:
    """Count a failed call. `error` is its kind, such as `timeout`, never a message."""
    with transaction.atomic():
        CircuitBreaker.objects.bulk_create([CircuitBreaker(name=name)], ignore_conflicts=True)
        row = CircuitBreaker.objects.select_for_update().get(pk=name)
        before = circuit_of(row)
        after = before.failed(now)
        row.failures, row.trips = after.failures, after.trips
        row.open_until, row.probe_until = after.open_until, after.probe_until
        row.last_error, row.last_failed_at = error[:80], now
        if after.trips > before.trips:
            row.opened_at = now
        row.save()
    if after.trips > before.trips:
        log.error(
            "circuit_opened",
            breaker=name,
            error=error[:80],
            failures=after.failures,
            trips=after.trips,
        )


def record_success(name: str, *, now: datetime) -> None:
    """End what failures began: the breaker is closed. One read when there was none."""
    if not is_failing(name):
        return
    failing = CircuitBreaker.objects.filter(pk=name, failures__gt=0).first()
    if failing is None:
        return
    CircuitBreaker.objects.filter(pk=name).update(**CLOSED, last_succeeded_at=now)
    if failing.open_until:
        log.info("circuit_closed", breaker=name)


def reset(name: str, *, reason: str, actor: str, now: datetime) -> None:
    """Close a breaker by hand. Raises Conflict when it is closed already, Invalid without a reason or a fit name."""
    reason = checked_reason(reason)
    if problem := storable_problem(name):
        raise Invalid(problem)
    with transaction.atomic():
        opened = CircuitBreaker.objects.filter(pk=name, open_until__isnull=False)
        if not opened.update(**CLOSED):
            raise Conflict(_("This breaker is closed already."), code="closed")
        record_audit(
            now=now,
            actor=actor,
            tool_call="breaker_reset",
            reasoning=reason,
            details={"breaker": name},
        )
    log.info("circuit_reset", breaker=name)
