"""The jobs of trading cases: the learning cron, and judging again."""

from datetime import datetime
from typing import Any

from django.db import transaction

from learning_app.cases.services.anew import demote_unproven, form_old
from learning_app.cases.services.cron import ACTOR, CRON, run_cron
from learning_app.cases.services.rejudge import judge_due_controls, rejudge_changed
from minara_site.kernel.jobs.services import Claim, request_run


def cron(*, now: datetime, claim: Claim | None = None) -> dict[str, Any]:
    """Run one pass; running it again finds what is still due."""
    counts = run_cron(now=now, requested_by=ACTOR, claim=claim)
    if counts.get("rest"):
        with transaction.atomic():
            request_run(CRON, {}, now=now, requested_by=ACTOR)
    return counts


def rejudge(*, now: datetime) -> dict[str, Any]:
    """Judge again what changed prices touch; running it again finds what is left."""
    return {"rejudged": rejudge_changed(now=now)}


def judge_anew(*, now: datetime) -> dict[str, Any]:
    """Form and judge anew what was recorded before one bet counted once. It does nothing a second time."""
    formed = form_old(now=now)
    rejudged = rejudge_changed(now=now)
    known = sum(judge_due_controls(now=now))
    return {"formed": formed, "rejudged": rejudged, "controls": known, "demoted": demote_unproven(now=now)}
