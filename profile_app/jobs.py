"""The app's jobs, room by room."""

from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.jobs.table import Job
from profile_app.prompt.services import retire_idle_snapshots

JOBS = (
    Job(
        "prompt.retire_idle_snapshots",
        retire_idle_snapshots,
        every=timedelta(minutes=10),
        summary=_("Ends sessions that were idle for 24 hours and wipes the text that their agent read."),
    ),
)
