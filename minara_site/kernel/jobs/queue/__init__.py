"""The queue between the table of runs and the workers. No other package knows the library of either runner.

It carries ids only, after commit; losing it loses no work, because the sweep sends again. MINARA_JOBS chooses the
runner, and both have the same functions: `push`, `push_beat`, `count_waiting`, `get_runner_name`, and `Cluster`.
"""

from typing import TYPE_CHECKING

from django.conf import settings

from minara_site.config import JobRunner

if TYPE_CHECKING or settings.MINARA.minara_jobs is JobRunner.Q2:
    from minara_site.kernel.jobs.queue.q2 import Cluster, count_waiting, get_runner_name, push, push_beat
else:
    from minara_site.kernel.jobs.queue.on_celery import Cluster, count_waiting, get_runner_name, push, push_beat

__all__ = ["Cluster", "count_waiting", "get_runner_name", "push", "push_beat"]
