"""Writes of lessons. A tick asks for new ones here and waits for no model: a job writes them."""

from datetime import UTC, datetime

from django.db.models import Q

from learning_app.capabilities import REFLECTION_NOTES
from learning_app.lessons.core import Cadence
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import request_run

REFLECT = "lessons.reflect"
ACTOR = f"job:{REFLECT}"


def request_reflection(*, deployment_id: int, until: datetime, trigger: str, now: datetime) -> None:
    """Ask for lessons out of the trades that are closed after a tick, `until`, in the transaction of that tick.

    `trigger` is the cadence that asks. Nothing is asked while a run of the deployment waits or works, a second time
    for the same tick, or, daily, a second time on a UTC date.
    """
    if mode_of(REFLECTION_NOTES) is Mode.OFF:
        return
    arguments = {"deployment_id": deployment_id, "until": until.isoformat(), "trigger": trigger}
    runs = JobRun.objects.filter(job=REFLECT, arguments__deployment_id=deployment_id)
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    is_asked = Q(state__in=(RunState.QUEUED, RunState.RUNNING)) | Q(arguments__until=arguments["until"])
    if trigger == Cadence.DAILY:
        is_asked |= Q(arguments__trigger=trigger, created_at__gte=today)
    if not runs.filter(is_asked).exists():
        request_run(REFLECT, arguments, now=now, requested_by=ACTOR)
