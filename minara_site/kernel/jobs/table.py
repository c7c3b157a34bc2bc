"""The table of jobs: what each app's `jobs.py` lists, and which of it runs on a schedule.

An app's `jobs.py` holds `JOBS = (Job(...), ...)` and nothing else. A name is `<room>.<what it does>` and stays the
same for ever, because stored runs carry it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.apps import apps

JobFunction = Callable[..., dict[str, Any] | None]


@dataclass(frozen=True)
class Job:
    """A function that a worker runs.

    It is called with the keyword `now` and the run's arguments (ids and plain values, never content), re-reads what
    it needs, and returns counts or None. A worker may die at any point, so it may run twice: either its effect
    stands when repeated (a purge, an upsert), or `settles` is True. Then it also gets `claim` and calls
    `services.settle_run(claim, ...)` in the transaction of its effect, which exactly one attempt can do.

    `every` puts it on the schedule, once per slot of that length.
    """

    name: str
    function: JobFunction
    every: timedelta | None = None
    settles: bool = False


def iterate_listed_jobs() -> Iterator[Job]:
    """Yield the jobs of every installed app, in the apps' order."""
    for app in apps.get_app_configs():
        if find_spec(f"{app.name}.jobs"):
            yield from getattr(import_module(f"{app.name}.jobs"), "JOBS", ())


@cache
def load_jobs() -> dict[str, Job]:
    """Return every job by name. Raises ValueError when two share one."""
    table: dict[str, Job] = {}
    for job in iterate_listed_jobs():
        if job.name in table:
            raise ValueError(f"Two jobs are called {job.name}.")
        table[job.name] = job
    return table


def find_job(name: str) -> Job | None:
    """Return the job of this name, or None when this version has none."""
    return load_jobs().get(name)
