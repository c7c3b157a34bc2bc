"""What a worker does with one run: claim it, keep the lease while the job works, record how it ended.

A failure is stored as one sentence and logged as event, ids and place; a message of an unforeseen exception may hold
content and is neither stored nor logged.
"""

import os
import socket
import time
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from pathlib import Path

import structlog
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.kernel.db import is_unavailable
from minara_site.kernel.errors import MinaraError, Unavailable
from minara_site.kernel.jobs import services
from minara_site.kernel.jobs.leases import RENEWALS, renewed
from minara_site.kernel.jobs.services import Cancelled, Claim, ClaimLost
from minara_site.kernel.jobs.table import find_job

SECONDS_OF_A_BEAT = 10
HOST = socket.gethostname()[:40]
cluster_name = f"{HOST}:{os.getpid()}"
"""The process that this process's workers belong to; workers are forked and inherit it."""

log = structlog.get_logger(__name__)


def adopt_cluster_name() -> str:
    """Name the cluster after the calling process, before it forks its workers."""
    global cluster_name  # noqa: PLW0603 - a fact about this process, not state of the service
    cluster_name = f"{HOST}:{os.getpid()}"
    return cluster_name


def worker_name() -> str:
    """Return `host:cluster:process`, which no other live process has."""
    return f"{cluster_name}:{os.getpid()}"


def beat() -> None:
    """Show that messages reach a worker; the queue carries one of these each tick."""
    services.record_worker_seen(cluster_name, now=timezone.now())


@lru_cache(maxsize=1)
def beat_within(_stretch: int) -> None:
    """Beat once in each stretch of time: while messages wait, the queue carries no beats."""
    beat()


def execute(run_id: int) -> None:
    """Run what the queue names, unless it is done, cancelled or somebody else's."""
    claim = services.claim_run(
        run_id,
        worker=worker_name(),
        now=timezone.now(),
    )
    if claim is None:
        return
    beat_within(int(time.monotonic() // SECONDS_OF_A_BEAT))
    with structlog.contextvars.bound_contextvars(run_id=run_id, job=claim.job), keep_lease(claim):
        run_claimed(claim)


def run_claimed(claim: Claim) -> None:
    """Call the job and record how it ended. Only the runner's own stop signals leave this function."""
    job = find_job(claim.job)
    if job is None:
        error = _("This version has no job called %(job)s.") % {"job": claim.job}
        services.fail_run(claim, error=error, now=timezone.now())
        return
    try:
        extra = {"claim": claim} if job.settles or job.reports else {}
        result = job.function(now=timezone.now(), **claim.arguments, **extra)
        if not job.settles:
            services.settle_run(claim, result=result, now=timezone.now())
    except ClaimLost:
        log.warning("job_claim_lost", attempt=claim.attempt)
    except Cancelled:
        services.stop_run(claim, now=timezone.now())
        log.info("job_stopped", attempt=claim.attempt)
    except Unavailable as error:
        requeue(claim, error)
    except MinaraError as error:
        services.fail_run(claim, error=error.detail, now=timezone.now())
        log.warning("job_failed", code=error.problem_code)
    except Exception as error:  # noqa: BLE001 - the boundary: whatever a job raises ends here, as its recorded failure
        (requeue if is_unavailable(error) else fail_unforeseen)(claim, error)
    except SystemExit:
        late = _("It took longer than MINARA_JOB_TIMEOUT_SECONDS. Raise that, or ask for less at once.")
        services.requeue_run(claim, error=late, now=timezone.now())
        log.warning("job_timed_out", attempt=claim.attempt)
        raise


def requeue(claim: Claim, error: Exception) -> None:
    """Let the sweep try again later: something that the job needs does not answer now."""
    detail = error.detail if isinstance(error, Unavailable) else _("The database did not answer. It is tried again.")
    log.warning("job_given_back", attempt=claim.attempt, error=type(error).__name__)
    services.requeue_run(claim, error=detail, now=timezone.now())


def fail_unforeseen(claim: Claim, error: Exception) -> None:
    """Record a fault of the job itself, with its kind and place."""
    kind, place = type(error).__name__, find_place(error)
    log.error("job_failed", error=kind, place=place)
    sentence = _("The job stopped at a fault of its own (%(kind)s, %(place)s). Report it, then try again.")
    services.fail_run(
        claim,
        error=sentence % {"kind": kind, "place": place},
        now=timezone.now(),
    )


def find_place(error: BaseException) -> str:
    """Return `module.py:line` of the innermost frame."""
    trace = error.__traceback__
    if trace is None:
        return "unknown"
    while trace.tb_next:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


def keep_lease(claim: Claim) -> AbstractContextManager[object]:
    """Renew the lease from a second thread until the block ends."""
    return renewed(partial(renew, claim), every=services.LEASE_SECONDS / RENEWALS)


def renew(claim: Claim) -> bool:
    """Renew the lease and the cluster's sign of life; False says that the claim is lost."""
    services.record_worker_seen(cluster_name, now=timezone.now())
    return services.renew_claim(claim, now=timezone.now())
