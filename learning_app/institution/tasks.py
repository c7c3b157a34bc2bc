"""The jobs of institution runs."""

from datetime import datetime
from typing import Any

from learning_app.institution.services.ladder import repair_runs, run_ladder
from learning_app.institution.services.run import run_institution
from minara_site.kernel.jobs.services import Claim


def run(*, run_id: int, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Ask the roles of a run; running it again asks nobody who has answered."""
    return run_institution(run_id, now=now, claim=claim)


def ladder(*, now: datetime) -> dict[str, Any]:
    """Score the decisions whose windows are over; running it again finds what is still due."""
    return run_ladder(now=now)


def repair(*, now: datetime) -> dict[str, Any]:
    """Go on with runs that no worker has any more; running it again finds none."""
    return {"repaired": repair_runs(now=now)}
