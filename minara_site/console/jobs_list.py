"""The console's jobs."""

from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from minara_site.console.inbox.services import refresh_alerts
from minara_site.kernel.jobs.table import Job

JOBS = (
    Job(
        "inbox.refresh",
        refresh_alerts,
        every=timedelta(minutes=5),
        summary=_("Opens an alert for each cause that needs an operator, and closes it when the cause is gone."),
    ),
)
