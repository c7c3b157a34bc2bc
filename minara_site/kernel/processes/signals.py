"""Asking a process to stop."""

import signal
import time
from types import FrameType

STEP_SECONDS = 0.1


class StopRequest:
    """Becomes true on SIGTERM, SIGINT or SIGHUP; loops look at it between two steps."""

    def __init__(self) -> None:
        self.is_asked = False
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.ask)

    def ask(self, number: int, frame: FrameType | None) -> None:
        """Note the request; the handler does nothing else."""
        self.is_asked = True

    def wait(self, seconds: float) -> None:
        """Sleep, but not past a request."""
        until = time.monotonic() + seconds
        while not self.is_asked and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, STEP_SECONDS))
