"""The probe's jobs. An effect is a row of the audit log, which nothing can remove: rows count how often it stood."""

import os
import sys
import time
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.jobs.services import Claim, settle_run
from minara_site.kernel.jobs.table import Job


def leave_effect(kind: str, number: int) -> None:
    record_audit(now=timezone.now(), actor="probe", tool_call=kind, details={"number": number})


def work_slowly(*, now: datetime, number: int, seconds: float, claim: Claim) -> None:
    """Note each attempt, take time, then leave the effect and settle in one transaction."""
    leave_effect("attempted", number)
    time.sleep(seconds)
    with transaction.atomic():
        leave_effect("effected", number)
        settle_run(claim, result={"number": number}, now=timezone.now())


def die_once(*, now: datetime, number: int, claim: Claim) -> None:
    """Die in the middle of the effect's transaction at the first attempt."""
    with transaction.atomic():
        leave_effect("effected", number)
        if claim.attempt == 1:
            os.kill(os.getpid(), 9)
        settle_run(claim, result=None, now=timezone.now())


def die_with_the_timer(*, now: datetime, number: int, claim: Claim) -> None:
    """Die at the first attempt with the lock that a worker holds while it hands a result on."""
    if claim.attempt == 1:
        frame = sys._getframe()  # the loop of the worker is somewhere above
        while "timer" not in frame.f_locals:
            frame = frame.f_back
        frame.f_locals["timer"].get_lock().acquire()
        os.kill(os.getpid(), 9)
    with transaction.atomic():
        leave_effect("effected", number)
        settle_run(claim, result=None, now=timezone.now())


def always_die(*, now: datetime) -> None:
    os.kill(os.getpid(), 9)


def note_slot(*, now: datetime) -> None:
    leave_effect("slot", 0)


JOBS = (
    Job("probe.work_slowly", work_slowly, settles=True),
    Job("probe.die_once", die_once, settles=True),
    Job("probe.die_with_the_timer", die_with_the_timer, settles=True),
    Job("probe.always_die", always_die),
    Job("probe.note_slot", note_slot, every=timedelta(seconds=1)),
)
