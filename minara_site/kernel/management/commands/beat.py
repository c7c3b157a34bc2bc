"""`minara beat`: runs the schedule alone, beside workers that were started with `--no-beat`."""

from typing import Any

from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.instance.services import check_secret_key
from minara_site.kernel.jobs.worker import beat_until
from minara_site.kernel.processes.signals import StopRequest
from minara_site.kernel.processes.start import refuse_half_moved


class Command(MinaraCommand):
    """Ticks until SIGTERM."""

    help = "Run the schedule until stopped, without running jobs. Of several, one at a time does the work."

    def handle(self, *args: Any, **options: Any) -> None:
        """Tick."""
        refuse_half_moved()
        check_secret_key()
        beat_until(StopRequest())
