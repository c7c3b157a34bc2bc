"""Brokers for tests: a Redis of one's own that can be killed, a broker that never answers, and this machine's RabbitMQ."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import kombu
import pytest

from tests.kit.site import free_port, wait_until

RABBITMQ = "amqp://guest:guest@127.0.0.1:5672//"


class Redis:
    """A server that keeps nothing when it ends."""

    password = "right"

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.process: Any = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = [
            "--port",
            str(self.port),
            "--requirepass",
            self.password,
            "--save",
            "",
            "--dir",
            str(self.folder),
        ]
        self.process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
        wait_until(self.answers)

    def answers(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def private_redis(folder: Path) -> Iterator[Redis]:
    """Run a Redis during the block."""
    if shutil.which("redis-server") is None:
        miss("redis-server")
    server = Redis(folder)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def rabbitmq_queue() -> Iterator[str]:
    """Return the name of a queue of this machine's RabbitMQ, which is deleted behind the block."""
    name = f"minara-test-{uuid4().hex}"
    try:
        connection = kombu.Connection(RABBITMQ, connect_timeout=5).ensure_connection(max_retries=1)
    except kombu.exceptions.OperationalError:
        miss(RABBITMQ)
    with connection:
        yield name
        connection.channel().queue_delete(name)


@contextmanager
def silent_port() -> Iterator[int]:
    """Return a port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def miss(what: str) -> None:
    """Skip the test loudly; with CI=true a missing service fails."""
    message = f"{what} is missing: this test needs it"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
