"""`minara worker`: runs jobs. `minara up` starts one; more may run beside it, on this or another machine."""

from typing import Any

from django.core.management.base import CommandParser

from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.instance.services import check_secret_key
from minara_site.kernel.jobs.worker import work_until
from minara_site.kernel.processes.signals import StopRequest
from minara_site.kernel.processes.start import refuse_half_moved


class Command(MinaraCommand):
    """Runs jobs until SIGTERM."""

    help = "Run jobs and the schedule until stopped. `minara up` starts one by itself."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--no-beat",
            action="store_true",
            help="leave the schedule to `minara beat`",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Work."""
        refuse_half_moved()
        check_secret_key()
        work_until(StopRequest(), ticks=not options["no_beat"])
