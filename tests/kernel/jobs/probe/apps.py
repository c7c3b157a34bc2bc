"""The probe as a Django app."""

from datetime import timedelta

from django.apps import AppConfig


class ProbeConfig(AppConfig):
    """Shortens the waits of the process that loads it, and of the workers that it forks."""

    name = "tests.kernel.jobs.probe"
    label = "probe"

    def ready(self) -> None:
        from minara_site.kernel.jobs import queue, schedule, services

        services.LEASE_SECONDS = 2
        schedule.LEASE_SECONDS = 2
        schedule.TICK_SECONDS = 0.5
        schedule.RESEND_AFTER = timedelta(seconds=2)
        queue.STOP_SECONDS = 2
