"""The queue on Celery, with Redis or RabbitMQ as its broker: for workers on more than one machine.

Nobody waits long for the broker, whatever it does: a thread sends, and its caller waits for it briefly. What was not
sent by then may arrive or not; the sweep sends it again. A broker that failed is left alone for some seconds.
"""

import signal
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from typing import Any
from urllib.parse import urlsplit

import kombu.transport.pyamqp
import kombu.transport.redis  # noqa: F401 - both now, so that no request waits while they load
import structlog
from celery import Celery, signals
from celery.apps.worker import Worker, install_worker_term_handler
from django.conf import settings
from django.db import close_old_connections
from django.utils.module_loading import import_string
from django_q.timeout import TimeoutHandler

from minara_site.kernel.db import close_before_forks
from minara_site.kernel.processes import lifeline

LIMITS: dict[str, Any] = settings.Q_CLUSTER
QUEUE = LIMITS["name"]
MAX_WAIT_SECONDS = 0.1
SOCKET_SECONDS = 1
PAUSE_SECONDS = 5  # after a broker failed
STOP_SECONDS = 8
TIMEOUTS = ("socket_connect_timeout", "socket_timeout", "read_timeout", "write_timeout")  # of Redis, and of RabbitMQ

log = structlog.get_logger(__name__)
app = Celery(
    "minara",
    broker=settings.MINARA.minara_broker_url,
    fixups=(),
    set_as_current=False,
)
app.conf.update(
    task_default_queue=QUEUE,
    task_ignore_result=True,  # job_runs is the record
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_time_limit=LIMITS["timeout"] + 3,  # of a job that does not let itself be stopped before
    worker_concurrency=LIMITS["workers"],
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    broker_connection_max_retries=None,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        **dict.fromkeys(TIMEOUTS[:2], PAUSE_SECONDS),
        "visibility_timeout": LIMITS["retry"],
        "socket_keepalive": True,
    },
)
signals.setup_logging.connect(lambda **_facts: None, weak=False)  # the lines stay ours


class Broker:
    """The connection of this process, used by one thread alone."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1)
        self.asked: Future[Any] | None = None
        self.closed_until = 0.0
        self.producer: Any = None

    def ask(
        self,
        act: Callable[..., Any],
        *arguments: Any,
        seconds: float,
    ) -> Any:
        """Return the answer, None when there is none within the time.

        What is asked while an earlier act is late is not waited for; what is asked just after a failure is not tried.
        """
        if time.monotonic() < self.closed_until:
            return None
        is_late = self.asked is not None and not self.asked.done()
        self.asked = self.thread.submit(self.act, act, arguments)
        try:
            return None if is_late else self.asked.result(seconds)
        except Exception as error:  # noqa: BLE001 - brokers and their libraries fail in many ways
            log.warning("broker_failed", error=type(error).__name__)
            return None

    def act(self, act: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Do it; a connection of old, which the broker may have ended, is replaced once."""
        if time.monotonic() < self.closed_until:
            raise ConnectionError
        try:
            if self.producer is not None:
                with suppress(Exception):
                    return act(self.producer, *arguments)
                self.disconnect()
            options = {
                **dict.fromkeys(TIMEOUTS, SOCKET_SECONDS),
                "max_retries": 0,
                "confirm_publish": True,
            }
            connection = app.connection_for_write(
                connect_timeout=SOCKET_SECONDS,
                heartbeat=0,
                transport_options=options,
            )
            self.producer = app.amqp.Producer(connection)
            return act(self.producer, *arguments)
        except BaseException:
            self.closed_until = time.monotonic() + PAUSE_SECONDS
            self.disconnect()
            raise

    def disconnect(self) -> None:
        """Drop the connection without a word to the broker."""
        producer, self.producer = self.producer, None
        if producer is not None:
            producer.connection.collect(SOCKET_SECONDS)

    def close(self) -> None:
        """End the thread and the connection; neither lives through a fork."""
        self.thread.submit(self.disconnect)
        self.thread.shutdown()
        self.thread = ThreadPoolExecutor(1)


broker = Broker()


def push(*run_id: int) -> bool:
    """Queue a run's id. False says that the broker did not take it in time; the sweep will send it again."""
    return broker.ask(publish, run_id, seconds=MAX_WAIT_SECONDS) is not None


push_beat = push  # a message without an id asks for a sign of life


def publish(producer: Any, run_id: tuple[int, ...]) -> bool:
    """Send a message; its arrival is the answer."""
    app.send_task("work", run_id, producer=producer, retry=False)
    return True


def count_waiting() -> int | None:
    """Return how many messages no cluster has taken yet; None when the broker does not answer."""
    declare = {"queue": QUEUE, "durable": True, "auto_delete": False}
    found = broker.ask(
        lambda producer: producer.channel.queue_declare(**declare),
        seconds=4 * SOCKET_SECONDS,
    )
    return found and int(found.message_count)


def get_runner_name() -> str:
    """Return what operators call this runner, and where its broker is."""
    parts = urlsplit(settings.MINARA.minara_broker_url)
    return f"Celery, {parts.scheme}://{parts.netloc.rpartition('@')[2]}"


@app.task(name="work")  # type: ignore[untyped-decorator]
def work(*run_id: int) -> None:
    """Do what a message asks for; what takes too long is stopped as django-q2 does it, and queued again."""
    close_old_connections()
    with suppress(SystemExit), TimeoutHandler(LIMITS["timeout"]):
        import_string(f"minara_site.kernel.jobs.runner.{'execute' if run_id else 'beat'}")(*run_id)


app.finalize()
READY = (app.amqp.router, app.events)  # what sending needs is loaded now, so that no request waits for it


class Cluster:
    """Celery's worker with its pool; owned by the process that makes it."""

    def __init__(self) -> None:
        lifeline.bind_forked_children()
        close_before_forks()
        self.process: Any = None

    def start(self) -> None:
        """Fork Celery's process, which forks the rest."""
        broker.close()
        self.process = get_context("fork").Process(target=run_worker, name="celery")
        self.process.start()

    @property
    def is_alive(self) -> bool:
        """Whether Celery runs; it replaces workers that die."""
        return self.process is not None and self.process.is_alive()

    def stop(self) -> None:
        """Let running jobs finish for `STOP_SECONDS`, then end them; their leases bring them back."""
        if self.is_alive:
            self.process.terminate()
            self.process.join(STOP_SECONDS)
            self.process.kill()
            self.process.join()


class QuietWorker(Worker):  # type: ignore[misc]
    """Celery's worker, which only its owner stops."""

    def install_platform_tweaks(self, worker: Worker) -> None:
        """Listen to SIGTERM alone."""
        install_worker_term_handler(worker, verbose=False)


def run_worker() -> None:
    """Run Celery in this process, without its talk to other workers."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    warnings.filterwarnings("ignore", module="celery")  # advice on options that are not ours to set
    worker = QuietWorker(
        app=app,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    if worker.exitcode:  # a broker that refuses for good; its owner starts it again
        time.sleep(PAUSE_SECONDS)
