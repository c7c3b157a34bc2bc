"""The probe as a Django app."""

import os
import sys
from datetime import timedelta

from django.apps import AppConfig


class ProbeConfig(AppConfig):
    """Lists the probe's jobs alone, and shortens the waits of this process and of the workers that it forks."""

    name = "tests.kernel.jobs.probe"
    label = "probe"

    def ready(self) -> None:
        from minara_site.kernel import registry
        from minara_site.kernel.jobs import queue, schedule, services
        from tests.kernel.jobs.probe.jobs import JOBS, SLOTS

        jobs = JOBS + (SLOTS if os.environ.get("PROBE_SLOTS") else ())
        declared = registry.iterate_declared
        registry.iterate_declared = lambda name: (
            ((self.name, job) for job in jobs) if name == "jobs" else declared(name)
        )
        services.LEASE_SECONDS = schedule.LEASE_SECONDS = int(os.environ.get("PROBE_LEASE_SECONDS", "20"))
        schedule.TICK_SECONDS = 0.5
        schedule.RESEND_AFTER, schedule.RESEND_ANYWAY_AFTER = timedelta(seconds=2), timedelta(seconds=5)
        runner = sys.modules[queue.Cluster.__module__]
        runner.STOP_SECONDS = runner.MAX_LOCKED_SECONDS = 2
