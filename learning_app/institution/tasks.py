"""The jobs that repair institution runs and score them again."""

from datetime import datetime
from typing import Any

from learning_app.institution.services.ladder import rejudge_changed, repair_runs


def repair(*, now: datetime) -> dict[str, Any]:
    """Go on with runs that no worker has any more; running it again finds none."""
    return {"repaired": repair_runs(now=now)}


def rejudge(*, now: datetime) -> dict[str, Any]:
    """Score again what changed prices touch; running it again finds what is left."""
    return {"rejudged": rejudge_changed(now=now)}
