"""The probe's jobs. An effect is a row of the audit log, which nothing can remove: rows count how often there was one."""

import os
import signal
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.jobs.services import Claim, ClaimLost, settle_run
from minara_site.kernel.jobs.table import Job
from tests.kit.site import wait_until

GO = "go"  # the file in the data folder that `wait_once` waits for


def leave(claim: Claim, what: str, number: int) -> None:
    """Note what a run of a job did."""
    record_audit(now=timezone.now(), actor="probe", tool_call=f"{claim.job} {what}", details={"number": number})


def leave_effect_and_settle(claim: Claim, number: int) -> None:
    """Leave the effect and settle, in one transaction."""
    with transaction.atomic():
        leave(claim, "effected", number)
        settle_run(claim, result={"number": number}, now=timezone.now())


def work_slowly(*, now: datetime, number: int, seconds: float, claim: Claim) -> None:
    """Note each attempt, take time, then leave the effect."""
    leave(claim, "attempted", number)
    time.sleep(seconds)
    leave_effect_and_settle(claim, number)


def wait_once(*, now: datetime, number: int, claim: Claim) -> None:
    """Wait at the first attempt until somebody lets it go on; leave the effect, or note that it was refused."""
    leave(claim, "attempted", number)
    if claim.attempt == 1:
        wait_until(Path(settings.DATA_DIR, GO).exists, 600)
    try:
        leave_effect_and_settle(claim, number)
    except ClaimLost:
        leave(claim, "refused", number)
        raise


def die_once(*, now: datetime, number: int, claim: Claim) -> None:
    """Die in the middle of the effect's transaction at the first attempt."""
    with transaction.atomic():
        leave(claim, "effected", number)
        if claim.attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        settle_run(claim, result=None, now=timezone.now())


def die_with_the_timer(*, now: datetime, number: int, claim: Claim) -> None:
    """Die at the first attempt with the lock that a worker holds while it gives a result back."""
    if claim.attempt == 1:
        frame = sys._getframe()  # the loop of the worker is somewhere above
        while "timer" not in frame.f_locals:
            frame = frame.f_back
        frame.f_locals["timer"].get_lock().acquire()
        os.kill(os.getpid(), signal.SIGKILL)
    leave_effect_and_settle(claim, number)


def always_die(*, now: datetime, number: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def note_slot(*, now: datetime) -> None:
    record_audit(now=timezone.now(), actor="probe", tool_call="probe.note_slot effected")


JOBS = (
    Job("probe.work_slowly", work_slowly, settles=True),
    Job("probe.wait_once", wait_once, settles=True),
    Job("probe.die_once", die_once, settles=True),
    Job("probe.die_with_the_timer", die_with_the_timer, settles=True),
    Job("probe.always_die", always_die),
)
SLOTS = (Job("probe.note_slot", note_slot, every=timedelta(seconds=1)),)
