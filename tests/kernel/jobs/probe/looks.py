"""What tests ask for and see of an installation with the probe, from outside."""

from typing import Any

from tests.kit.site import Site

ACTS = "tests.kernel.jobs.probe.acts"
WORKER = "manage.py worker"


def ask(site: Site, job: str, count: int = 1, **arguments: Any) -> None:
    """Ask for this many runs."""
    site.call(f"{ACTS}:request", job, count, arguments)


def states(site: Site, job: str) -> dict[str, int]:
    """Return how many runs of the job are in which state."""
    return dict(site.query(f"SELECT state, count(*) FROM job_runs WHERE job = '{job}' GROUP BY state"))


def effects(site: Site, job: str, what: str = "effected") -> int:
    """Return how many effects a job left."""
    return int(site.query(f"SELECT count(*) FROM audit_log WHERE tool_call = '{job} {what}'")[0][0])


def running_worker(site: Site, job: str) -> int | None:
    """Return the process that runs this job now."""
    found = site.query(f"SELECT worker FROM job_runs WHERE state = 'running' AND job = '{job}'")
    return int(found[0][0].rsplit(":", 1)[1]) if found else None
