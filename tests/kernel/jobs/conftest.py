"""Jobs for tests: a table of its own in this process, and an installation that lists the probe's jobs."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from uuid import uuid4

import pytest

from minara_site.kernel import registry
from minara_site.kernel.jobs import queue
from minara_site.kernel.jobs.table import Job
from tests.kit.brokers import Redis, private_redis
from tests.kit.site import SERVER_URL, Site


class Pushed(list[int]):
    """The ids that the queue was given; `waiting` is how many messages it says are not taken, `beats` how many went."""

    waiting = 0
    beats = 0

    def beat(self) -> None:
        self.beats += 1


@pytest.fixture
def list_jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Replace what the apps list."""
    declared = registry.iterate_declared

    def replace(*jobs: Job) -> None:
        ours = [("tests", job) for job in jobs]
        monkeypatch.setattr(
            registry,
            "iterate_declared",
            lambda name: iter(ours) if name == "jobs" else declared(name),
        )
        registry.load.cache_clear()

    yield replace
    registry.load.cache_clear()


@pytest.fixture
def pushed(monkeypatch: pytest.MonkeyPatch) -> Pushed:
    """Take the queue's place."""
    taken = Pushed()
    monkeypatch.setattr(queue, "push", taken.append)
    monkeypatch.setattr(queue, "push_beat", taken.beat)
    monkeypatch.setattr(queue, "count_waiting", lambda: taken.waiting)
    return taken


@pytest.fixture(scope="session")
def probe_sites(
    tmp_path_factory: pytest.TempPathFactory,
    migrated_site: Site,
) -> Callable[[], AbstractContextManager[Site]]:
    """Make installations whose workers know the probe's jobs and wait less."""

    @contextmanager
    def make() -> Iterator[Site]:
        folder = tmp_path_factory.mktemp("probe") / "data"
        made = Site(folder, settings="tests.kernel.jobs.probe.settings", template=migrated_site)
        try:
            yield made
        finally:
            made.close()

    return make


@pytest.fixture
def probe_site(probe_sites: Callable[[], AbstractContextManager[Site]]) -> Iterator[Site]:
    """Such an installation."""
    with probe_sites() as made:
        yield made


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    """A Redis of this session."""
    with private_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def celery_site(probe_site: Site, redis: Redis) -> Site:
    """An installation on Celery, with a queue of its own."""
    probe_site.environment |= {
        "MINARA_JOBS": "celery",
        "MINARA_BROKER_URL": redis.url,
        "PROBE_QUEUE": f"probe-{uuid4().hex}",
    }
    return probe_site


@pytest.fixture(params=["probe_site", "celery_site"] if SERVER_URL else ["probe_site"])
def either_site(request: pytest.FixtureRequest) -> Site:
    """An installation on each of the runners; Celery is for what one machine, and so SQLite, is not enough for."""
    site: Site = request.getfixturevalue(request.param)
    return site
