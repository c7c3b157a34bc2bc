"""The processes of jobs: `minara worker` keeps one cluster alive and ticks beside it, `minara beat` only ticks."""

import structlog
from django.db import DatabaseError, InterfaceError, close_old_connections
from django.utils import timezone

from minara_site.kernel.jobs import queue, runner, schedule, services
from minara_site.kernel.jobs.leases import acquire_lease, new_holder
from minara_site.kernel.processes.signals import StopRequest

POLL_SECONDS = 0.5

log = structlog.get_logger(__name__)


def work_until(stop: StopRequest, *, ticks: bool) -> None:
    """Run jobs, and tick unless `minara beat` does, until asked to stop."""
    name = runner.adopt_cluster_name()
    cluster = queue.Cluster()
    since_tick = float(schedule.TICK_SECONDS)
    try:
        while not stop.is_asked:
            revived = revive(cluster, name)
            if ticks and (revived or since_tick >= schedule.TICK_SECONDS):
                since_tick = 0.0
                tick()
            stop.wait(POLL_SECONDS)
            since_tick += POLL_SECONDS
    finally:
        cluster.stop()
        free_runs(name)


def beat_until(stop: StopRequest) -> None:
    """Tick until asked to stop."""
    while not stop.is_asked:
        tick()
        stop.wait(schedule.TICK_SECONDS)


def revive(cluster: queue.Cluster, name: str) -> bool:
    """Start the cluster if it does not run, and free what its dead workers held; say whether it was started."""
    if cluster.is_alive:
        return False
    free_runs(name)
    cluster.start()
    log.info("worker_started", cluster=name)
    return True


def tick() -> None:
    """Do what is due, unless another process of the instance has just done it.

    The lease runs out by itself. A database that does not answer is asked again at the next tick.
    """
    close_old_connections()
    now = timezone.now()
    try:
        if acquire_lease(
            "tick",
            holder=new_holder(),
            seconds=schedule.TICK_SECONDS,
            now=now,
        ):
            schedule.tick(now=now)
    except (DatabaseError, InterfaceError) as error:
        log.warning("tick_failed", error=type(error).__name__)


def free_runs(name: str) -> None:
    """Give back what workers that are gone still held."""
    try:
        services.free_runs_of(name, now=timezone.now())
    except (DatabaseError, InterfaceError) as error:
        log.warning("runs_not_freed", error=type(error).__name__)
