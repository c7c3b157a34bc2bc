"""The app's jobs, room by room."""

from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from memory_app.held.rescan import rescan
from memory_app.memories import tasks as memories
from minara_site.kernel.jobs.table import Job

JOBS = (
    Job(
        "memories.purge_expired",
        memories.purge,
        every=timedelta(minutes=30),
        reports=True,
        summary=_("Removes deleted memories for good once their time in the trash is over."),
    ),
    Job(
        "guard.rescan",
        rescan,
        every=timedelta(minutes=10),
        reports=True,
        summary=_("Judges again what was stored under other scan rules and holds what they refuse now."),
    ),
)
