"""The app's jobs, room by room."""

from datetime import timedelta

from memory_app.memories import tasks as memories
from minara_site.kernel.jobs.table import Job

JOBS = (Job("memories.purge_expired", memories.purge, every=timedelta(minutes=30)),)
