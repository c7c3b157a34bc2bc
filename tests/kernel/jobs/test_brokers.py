"""Brokers that are closed, silent, locked, flushed or back again: no work is lost, and no request waits for one."""

import pytest

from minara_site.kernel.jobs.queue import on_celery
from tests.kernel.jobs.probe.looks import ask, effects, states
from tests.kit.brokers import RABBITMQ, rabbitmq_queue, silent_port
from tests.kit.site import free_port, wait_until
from tests.kit.tables import table

pytestmark = pytest.mark.processes

SLOW = "probe.work_slowly"


@pytest.fixture
def broker(monkeypatch):
    """Return a function that has this process use a broker, anew; its caller waits for as long as it takes."""
    monkeypatch.setattr(on_celery, "MAX_WAIT_SECONDS", 60)

    def use(url):
        monkeypatch.setitem(on_celery.app.conf, "broker_url", url)
        monkeypatch.setattr(on_celery, "broker", on_celery.Broker())
        return on_celery.broker

    yield use
    on_celery.broker.close()


@table("scheme", ["redis", "amqp"])
def test_one_that_never_answers_is_not_waited_for(broker, monkeypatch, scheme):
    """Its socket gives up after ten minutes here; only the caller's own patience can end the push."""
    monkeypatch.setattr(on_celery, "MAX_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(on_celery, "SOCKET_SECONDS", 600)
    with silent_port() as port:
        used = broker(f"{scheme}://u:p@127.0.0.1:{port}//")
        assert not on_celery.push(1)
        assert not used.asked.done()
        assert not on_celery.push(2)
        assert on_celery.count_waiting() is None
    wait_until(used.asked.done)
    assert not on_celery.push(3)


def test_one_that_fails_is_left_alone_for_a_while(broker, monkeypatch, redis):
    faults = []
    closed = free_port()
    for url in (f"redis://127.0.0.1:{closed}/0", f"amqp://127.0.0.1:{closed}//", redis.url.replace("right", "wrong")):
        used = broker(url)
        first = on_celery.push(1)
        asked = used.asked
        if first or on_celery.push(2) or on_celery.count_waiting() is not None or used.asked is not asked:
            faults.append(url)
        used.closed_until = 0.0
        on_celery.push(3)
        if used.asked is asked:
            faults.append(f"{url} is never asked again")
    assert faults == []


def test_one_that_came_back_is_used_at_once_and_names_no_password(broker, redis, settings):
    used = broker(redis.url)
    assert on_celery.push(1)
    waiting = on_celery.count_waiting()
    redis.kill()
    redis.start()
    assert on_celery.push(2)
    assert (waiting, on_celery.count_waiting()) == (1, 1)
    assert used is on_celery.broker
    settings.MINARA = settings.MINARA.model_copy(update={"minara_broker_url": redis.url})
    assert on_celery.get_runner_name() == f"Celery, redis://127.0.0.1:{redis.port}"


def test_a_flushed_and_a_closed_broker_lose_no_work(celery_site, redis):
    """The messages of the first three are lost with the server, those of the others are never sent."""
    ask(celery_site, SLOW, 3, seconds=0.0)
    redis.kill()
    ask(celery_site, SLOW, 3, seconds=0.0)
    celery_site.start("worker", "--no-beat")
    celery_site.start("beat")
    celery_site.start("beat")
    redis.start()
    wait_until(lambda: states(celery_site, SLOW) == {"succeeded": 6})
    assert effects(celery_site, SLOW) == 6
    wait_until(lambda: celery_site.query("SELECT 1 FROM workers_seen"))


def test_rabbitmq_carries_the_same(celery_site):
    with rabbitmq_queue() as name:
        celery_site.environment |= {"MINARA_BROKER_URL": RABBITMQ, "PROBE_QUEUE": name}
        worker = celery_site.start("worker")
        ask(celery_site, SLOW, 3, seconds=0.0)
        wait_until(lambda: states(celery_site, SLOW) == {"succeeded": 3})
        worker.terminate()
        assert worker.wait(60) == 0
