"""The queue in the database: django-q2 with its ORM broker.

Its guard process supervises the workers, with one difference from the library's: when one of them dies under a signal,
the whole cluster is made anew. The dead process may have held the lock of the pipe that all of them read, or that of
its own timer, which the guard takes at each look; nobody else could ever take it again.
"""

import sys
from multiprocessing import Event, Process, RLock, Value
from multiprocessing.context import BaseContext
from typing import Any
from uuid import uuid4

import structlog
from django.db import DatabaseError, InterfaceError
from django_q.brokers import get_broker
from django_q.cluster import Sentinel, get_mp_context
from django_q.tasks import async_task
from django_q.worker import worker

from minara_site.kernel.db import close_before_forks
from minara_site.kernel.processes import lifeline

EXECUTE = "minara_site.kernel.jobs.runner.execute"
BEAT = "minara_site.kernel.jobs.runner.beat"
STOP_SECONDS = 8
MAX_LOCKED_SECONDS = 10  # a living worker holds its timer for milliseconds

log = structlog.get_logger(__name__)


def push(run_id: int) -> bool:
    """Queue a run's id. False says that the queue did not take it; the sweep will send it again."""
    return send(EXECUTE, run_id)


def push_beat() -> bool:
    """Queue a sign of life, for a worker to write."""
    return send(BEAT)


def send(function: str, *arguments: int) -> bool:
    """Queue one call by name; a queue that does not answer is survived."""
    try:
        async_task(function, *arguments, save=False)
    except (DatabaseError, InterfaceError) as error:
        log.warning(
            "job_not_queued",
            function=function,
            arguments=arguments,
            error=type(error).__name__,
        )
        return False
    return True


def count_waiting() -> int | None:
    """Return how many messages no cluster has taken yet; None when the broker does not answer."""
    return int(get_broker().queue_size())


def get_runner_name() -> str:
    """Return what operators call this runner."""
    return "django-q2"


class TimerLock:
    """The lock of a worker's timer. Who waits for it too long waits for a dead process, and leaves."""

    def __init__(self) -> None:
        self.lock = RLock()

    def acquire(self) -> bool:
        """Take the lock. Raises SystemExit."""
        if not self.lock.acquire(timeout=MAX_LOCKED_SECONDS):
            log.error("worker_killed", held="its timer")
            sys.exit(1)
        return True

    def release(self) -> None:
        self.lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_raised: object) -> None:
        self.release()


class Guard(Sentinel):  # type: ignore[misc]
    """Watches the workers of one cluster; see the module."""

    def spawn_worker(self) -> None:
        """Start a worker with a timer whose lock nobody waits for without end."""
        timer = Value("f", -1, lock=TimerLock())  # type: ignore[call-overload]
        self.spawn_process(worker, self.task_queue, self.result_queue, timer, self.timeout)

    def reincarnate(self, process: Process) -> None:
        """Replace a worker that was recycled or ran too long; leave when one was killed."""
        if process.exitcode is not None and process.exitcode < 0:
            log.error("worker_killed", signal=-process.exitcode)
            sys.exit(1)
        super().reincarnate(process)


class Cluster:
    """The guard, its workers and the two processes that feed them; owned by the process that makes it."""

    def __init__(self) -> None:
        lifeline.bind_forked_children()
        close_before_forks()
        self.guard: Any = None
        self.stop_event: Any = None

    def start(self) -> None:
        """Fork the guard, which forks the rest. No database connection may live through a fork."""
        context: BaseContext = get_mp_context()
        self.stop_event = Event()
        self.guard = context.Process(  # type: ignore[attr-defined]
            target=Guard,
            args=(self.stop_event, Event(), uuid4()),
            name="guard",
        )
        self.guard.start()

    @property
    def is_alive(self) -> bool:
        """Whether the guard runs; without it there are no workers."""
        return self.guard is not None and self.guard.is_alive()

    def stop(self) -> None:
        """Let running jobs finish for `STOP_SECONDS`, then end them; their leases bring them back."""
        if not self.is_alive:
            return
        self.stop_event.set()
        self.guard.join(STOP_SECONDS)
        if self.guard.is_alive():
            self.guard.kill()
            self.guard.join()
