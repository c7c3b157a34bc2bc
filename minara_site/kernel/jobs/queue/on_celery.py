"""The queue on Celery, with Redis or RabbitMQ as its broker: for workers on more than one machine.

Nobody waits long for the broker, whatever it does: a thread sends, and its caller waits for it briefly. What was not
sent by then may arrive or not; the sweep sends it again. A broker that failed is left alone for some seconds.
"""

import os
import signal
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar
from urllib.parse import urlsplit

import kombu.transport.pyamqp
import kombu.transport.redis  # noqa: F401 - both now, so that no request waits while they load
import structlog
from celery import Celery, signals
from celery.apps.worker import Worker, install_worker_term_handler
from celery.exceptions import SecurityWarning
from django.conf import settings
from django.db import close_old_connections, connections
from django_q.timeout import TimeoutHandler

from minara_site.kernel.processes import lifeline

LIMITS: dict[str, Any] = settings.Q_CLUSTER
QUEUE = LIMITS["name"]
TIMEOUT_SECONDS = LIMITS["timeout"]
MAX_WAIT_SECONDS = 0.15
SOCKET_SECONDS = 1
PAUSE_SECONDS = 5  # after a broker failed
KILL_AFTER_SECONDS = 3  # after its time, a job that does not let itself be stopped
STOP_SECONDS = 8

Result = TypeVar("Result")

log = structlog.get_logger(__name__)
app = Celery("minara", broker=settings.MINARA.minara_broker_url, fixups=(), set_as_current=False)
app.conf.update(
    task_default_queue=QUEUE,
    task_ignore_result=True,  # job_runs is the record
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_time_limit=TIMEOUT_SECONDS + KILL_AFTER_SECONDS,
    worker_concurrency=LIMITS["workers"],
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    broker_connection_max_retries=None,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "visibility_timeout": LIMITS["retry"],
        "socket_connect_timeout": PAUSE_SECONDS,
        "socket_timeout": PAUSE_SECONDS,
        "socket_keepalive": True,
    },
)
signals.setup_logging.connect(lambda **_facts: None, weak=False)  # the lines stay ours


class Broker:
    """The connection of this process, used by one thread alone."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="broker")
        self.asked: Future[Any] = Future()
        self.asked.set_result(None)
        self.closed_until = 0.0
        self.producer: Any = None

    def ask(self, act: Callable[..., Result], *arguments: Any, seconds: float) -> Result | None:
        """Return the answer, None when there is none within the time.

        What is asked while an earlier act is late is not waited for; what is asked just after a failure is not tried.
        """
        if time.monotonic() < self.closed_until:
            return None
        is_late = not self.asked.done()
        self.asked = asked = self.thread.submit(self.act, act, arguments)
        if is_late:
            return None
        try:
            return asked.result(seconds)
        except Exception as error:  # noqa: BLE001 - brokers and their libraries fail in many ways
            log.warning("broker_failed", error=type(error).__name__)
            return None

    def act(self, act: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
        """Do it; a connection of old, which the broker may have ended, is replaced once."""
        if time.monotonic() < self.closed_until:
            raise ConnectionError
        try:
            if self.producer is not None:
                try:
                    return act(self.producer, *arguments)
                except Exception:  # noqa: BLE001 - see above
                    self.disconnect()
            self.producer = app.amqp.Producer(
                app.connection_for_write(
                    connect_timeout=SOCKET_SECONDS,
                    heartbeat=0,
                    transport_options={
                        "max_retries": 0,
                        "confirm_publish": True,
                        **dict.fromkeys(("socket_connect_timeout", "socket_timeout"), SOCKET_SECONDS),
                        **dict.fromkeys(("read_timeout", "write_timeout"), SOCKET_SECONDS),
                    },
                )
            )
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
        """End the thread and the connection."""
        self.thread.submit(self.disconnect)
        self.thread.shutdown()


broker = Broker()


def open_broker() -> None:
    """Begin anew: neither a thread nor a connection lives through a fork."""
    global broker  # noqa: PLW0603 - a fact about this process
    broker = Broker()


os.register_at_fork(after_in_child=open_broker)


def push(run_id: int) -> bool:
    """Queue a run's id. False says that the broker did not take it in time; the sweep will send it again."""
    return send("execute", run_id)


def push_beat() -> bool:
    """Queue a sign of life, for a worker to write."""
    return send("beat")


def send(task: str, *arguments: int) -> bool:
    """Queue one call by name; a broker that does not answer is survived."""
    return broker.ask(publish, task, arguments, seconds=MAX_WAIT_SECONDS) is not None


def publish(producer: Any, task: str, arguments: tuple[int, ...]) -> bool:
    """Send a message; its arrival is the answer."""
    app.send_task(task, arguments, producer=producer, retry=False)
    return True


def count_waiting() -> int | None:
    """Return how many messages no cluster has taken yet; None when the broker does not answer."""
    return broker.ask(measure_queue, seconds=4 * SOCKET_SECONDS)


def measure_queue(producer: Any) -> int:
    """Return the length of the queue, which is made where there is none."""
    declared = producer.channel.queue_declare(queue=QUEUE, durable=True, auto_delete=False)
    return int(declared.message_count)


def get_runner_name() -> str:
    """Return what operators call this runner, and where its broker is."""
    parts = urlsplit(settings.MINARA.minara_broker_url)
    return f"Celery, {parts.scheme}://{parts.netloc.rpartition('@')[2]}"


@app.task(name="execute")  # type: ignore[untyped-decorator]
def execute(run_id: int) -> None:
    """Run what the message names; a job that takes too long is stopped as django-q2 does it."""
    from minara_site.kernel.jobs import runner

    close_old_connections()
    try:
        with TimeoutHandler(TIMEOUT_SECONDS):
            runner.execute(run_id)
    except SystemExit:
        pass  # the runner has queued it again


@app.task(name="beat")  # type: ignore[untyped-decorator]
def beat() -> None:
    """Show that messages reach a worker."""
    from minara_site.kernel.jobs import runner

    close_old_connections()
    runner.beat()


app.finalize()
READY = (app.amqp.router, app.events)  # what sending needs is loaded now, so that no request waits for it


class Cluster:
    """Celery's worker with its pool; owned by the process that makes it."""

    def __init__(self) -> None:
        lifeline.bind_forked_children()
        self.process: Any = None

    def start(self) -> None:
        """Fork Celery's process, which forks the rest. No connection may live through a fork."""
        connections.close_all()
        broker.close()
        open_broker()
        self.process = get_context("fork").Process(target=work, name="celery")
        self.process.start()

    @property
    def is_alive(self) -> bool:
        """Whether Celery runs; it replaces workers that die."""
        return self.process is not None and self.process.is_alive()

    def stop(self) -> None:
        """Let running jobs finish for `STOP_SECONDS`, then end them; their leases bring them back."""
        if not self.is_alive:
            return
        self.process.terminate()
        self.process.join(STOP_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


class QuietWorker(Worker):  # type: ignore[misc]
    """Celery's worker, which only its owner stops."""

    def install_platform_tweaks(self, worker: Worker) -> None:
        """Listen to SIGTERM alone."""
        install_worker_term_handler(worker, verbose=False)


def work() -> None:
    """Run Celery in this process, without its talk to other workers."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    warnings.simplefilter("ignore", SecurityWarning)  # its advice for root is an option that we do not have
    worker = QuietWorker(app=app, quiet=True, without_gossip=True, without_mingle=True, without_heartbeat=True)
    worker.start()
    if worker.exitcode:  # a broker that refuses for good; its owner starts it again
        time.sleep(PAUSE_SECONDS)
