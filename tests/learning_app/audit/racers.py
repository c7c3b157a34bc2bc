"""What the processes of the races do, on one shared database."""

import json
import os
from datetime import timedelta

from django.db import connections

from learning_app.audit.core.records import Dimension
from learning_app.audit.models import AuditReport
from learning_app.audit.selectors import hash_rows
from learning_app.audit.services import run
from learning_app.audit.services.run import run_pass
from learning_app.cases.models import CaseHint, TradingCase
from learning_app.cases.services.cron import AlreadyRunning
from learning_app.methodologies.models import LifecycleEvent, Methodology
from minara_site.access.models import User
from tests.kit.clock import NOON
from tests.kit.racers import FORK, in_processes, meet
from tests.learning_app.audit.rows import make_event, make_loop
from tests.learning_app.rows import make_case, make_methodology

TOUCHED = "touched"


def passes_beside_writers(rounds: int) -> str:
    """Run passes from two processes while a third writes; say whether rows that it left alone are as they were."""
    owner = User.objects.get(is_default=True)
    still = make_loop(owner)
    make_case(owner, hints=[still])
    touched = make_methodology(name=TOUCHED)
    before = hash_untouched(touched.pk)
    ran = in_processes((run_passes, rounds), (run_passes, rounds), (write, touched.pk, rounds))
    written = LifecycleEvent.objects.filter(methodology=touched).count()
    return json.dumps(
        {
            "same": hash_untouched(touched.pk) == before,
            "all_said": sum(ran[:2]) == AuditReport.objects.count(),
            "reports": AuditReport.objects.count() >= rounds,
            "written": written,
        }
    )


def run_passes(rounds: int) -> int:
    """Return how many of so many passes were not dropped."""
    done = 0
    for number in range(rounds):
        meet()
        try:
            run_pass(now=NOON + timedelta(minutes=number), requested_by="test")
        except AlreadyRunning:
            continue
        done += 1
    return done


def write(number: int, rounds: int) -> None:
    """Change one methodology and append to its lifecycle."""
    row = Methodology.objects.get(pk=number)
    for seen in range(rounds):
        meet()
        Methodology.objects.filter(pk=number).update(times_seen=seen + 1)
        make_event(row, "outcome_recorded")


def hash_untouched(number: int) -> list[str]:
    """Return the hashes of all rows but those of one methodology."""
    return [
        hash_rows(Methodology.objects.exclude(pk=number)),
        hash_rows(LifecycleEvent.objects.exclude(methodology=number)),
        hash_rows(TradingCase.objects.all()),
        hash_rows(CaseHint.objects.exclude(methodology=number)),
    ]


def a_pass_that_dies() -> str:
    """Let a process die in the last stage of its pass; say what it left, and whether the next pass runs at once."""
    make_loop(User.objects.get(is_default=True))
    connections.close_all()
    process = FORK.Process(target=die)
    process.start()
    process.join()
    left = AuditReport.objects.count()
    run_pass(now=NOON, requested_by="test")
    return json.dumps({"ended": process.exitcode, "left": left, "then": AuditReport.objects.count()})


def die() -> None:
    """Run a pass whose last scorer ends the process."""
    run.STAGES = {**run.STAGES, Dimension.CRON_HEALTH: lambda _window: os._exit(7)}
    run_pass(now=NOON, requested_by="test")
