"""How long one run of a long job works before it leaves the rest to the next run, so that other jobs get the worker."""

import math
import time
from dataclasses import dataclass
from typing import Self

from django.conf import settings


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The time of a run, by the process's clock; without an end it works until nothing is left."""

    ends_at: float = math.inf

    @classmethod
    def start(cls, seconds: float) -> Self:
        """Return this many seconds from now, at most half of what a job may take."""
        return cls(time.monotonic() + min(seconds, settings.MINARA.minara_job_timeout_seconds / 2))

    @property
    def is_spent(self) -> bool:
        """Whether the run has used its time."""
        return time.monotonic() > self.ends_at
