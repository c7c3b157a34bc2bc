"""The app's jobs."""

from django.utils.translation import gettext_lazy as _

from learning_app.cases import tasks
from learning_app.cases.services.cron import CRON, EVERY
from minara_site.kernel.jobs.table import Job

JOBS = (
    Job(
        CRON,
        tasks.cron,
        every=EVERY,
        reports=True,
        summary=_("Judges trading cases whose window is over, and counts what that says of methodologies."),
    ),
)
