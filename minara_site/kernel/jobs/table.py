"""The table of jobs: what each app's `jobs.py` lists, and which of it runs on a schedule.

An app's `jobs.py` holds `JOBS = (Job(...), ...)` and nothing else; the kernel, whose `jobs` is this room, has it in
`jobs_list.py`. A name is `<room>.<what it does>` and stays the same for ever, because stored runs carry it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from inspect import Parameter, signature
from typing import Any

from django.utils.functional import Promise

from minara_site.kernel import registry

JobFunction = Callable[..., dict[str, Any] | None]


@dataclass(frozen=True)
class Job:
    """A function that a worker runs.

    It is called with the keyword `now` and the run's arguments (ids and plain values, never content), re-reads what
    it needs, and returns counts or None. A worker may die at any point, so it may run twice: either its effect
    stands when repeated (a purge, an upsert), or `settles` is True. Then it also gets `claim` and calls
    `services.settle_run(claim, ...)` in the transaction of its effect, which exactly one attempt can do.

    `every` puts it on the schedule, once per slot of that length. `summary` says to operators what it does. One that
    `reports` gets `claim` too, calls `services.report_progress(claim, done, total)` between its steps, and can be
    stopped there.

    It runs for each of its `topics` that is announced: with the `ids` that were, or without arguments when its function
    takes none.
    """

    name: str
    function: JobFunction
    every: timedelta | None = None
    settles: bool = False
    reports: bool = False
    topics: tuple[str, ...] = ()
    summary: str | Promise = ""

    @property
    def takes_ids(self) -> bool:
        """Whether it works on the ids that an announcement names."""
        return "ids" in signature(self.function).parameters

    @property
    def needs_arguments(self) -> bool:
        """Whether it runs only with arguments of the caller's, so that nobody can just start it."""
        given = {"now", "claim"}
        wanted = signature(self.function).parameters.values()
        return any(one.name not in given and one.default is Parameter.empty for one in wanted)


def load_jobs() -> dict[str, Job]:
    """Return every job by name, in the apps' order."""
    return registry.load("jobs")


def find_job(name: str) -> Job | None:
    """Return the job of this name, or None when this version has none."""
    return load_jobs().get(name)
