"""The jobs of access."""

from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from minara_site.access.tasks import clear_expired_sessions
from minara_site.kernel.jobs.table import Job

JOBS = (
    Job(
        "access.clear_expired_sessions",
        clear_expired_sessions,
        every=timedelta(hours=1),
        summary=_("Forgets browser sessions that have expired."),
    ),
)
