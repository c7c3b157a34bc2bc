"""What the app starts with every process."""

from datetime import timedelta
from functools import partial
from typing import Any

from django.utils import timezone

from minara_site.kernel.events import external_spot_recorded, perps_fills_recorded, trade_recorded
from minara_site.kernel.jobs.owner_schedule import nudge
from profile_app.activity.services.sync import on_trade_recorded
from profile_app.capital.core import CAPITAL_COOLDOWN, CAPITAL_JOB
from profile_app.rebuild.tasks import nudge_summary
from profile_app.strategies.core import MARKETS_COOLDOWN, MARKETS_JOB


def start() -> None:
    """Let trades ask for a sync and for a rebuild of the summary."""
    trade_recorded.connect(on_trade_recorded, dispatch_uid="activity.sync")
    for job, cooldown in ((MARKETS_JOB, MARKETS_COOLDOWN), (CAPITAL_JOB, CAPITAL_COOLDOWN)):
        perps_fills_recorded.connect(partial(on_fills, job, cooldown), weak=False, dispatch_uid=job)
    for event in (trade_recorded, perps_fills_recorded, external_spot_recorded):
        event.connect(nudge_summary, dispatch_uid="rebuild.summary")


def on_fills(job: str, cooldown: timedelta, sender: object, *, owner_id: int, **facts: Any) -> None:
    """Let a job run for an owner who traded, not sooner than so long after its last run."""
    nudge(job, owner_id, now=timezone.now(), interval=cooldown)
