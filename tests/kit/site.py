"""A whole installation for a test: a data folder and databases of its own, real processes, and a look from outside."""

import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from minara_site.config import Config

ROOT = Path(__file__).resolve().parents[2]
APPS = ("minara_site", "memory_app", "learning_app", "profile_app")
SERVER_URL = os.environ.get("DATABASE_URL", "")

Result = TypeVar("Result")


def wait_until(look: Callable[[], Result], seconds: float = 120.0) -> Result:
    """Return the first true answer; fail after this many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{getattr(look, '__name__', look)} did not come true within {seconds} s")


def free_port() -> int:
    """Return a port that nobody uses now, below those that the system gives to outgoing connections."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as trial, suppress(OSError):
            trial.bind(("127.0.0.1", port))
            return port


def server_query(sql: str) -> list[Any]:
    """Run a statement on the PostgreSQL server, outside any transaction, and return its rows."""
    import psycopg

    with psycopg.connect(SERVER_URL, autocommit=True) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


class Site:
    """An installation on SQLite, or on PostgreSQL when DATABASE_URL is set."""

    def __init__(
        self,
        folder: Path,
        *,
        settings: str = "minara_site.settings",
        template: "Site | None" = None,
        database: str = "",
    ) -> None:
        """Copy the template; with a name for its database nothing is made."""
        self.folder = folder
        self.database = database or f"minara_site_{uuid4().hex}"
        parts = urlsplit(SERVER_URL)
        self.url = urlunsplit(parts._replace(path=f"/{self.database}")) if SERVER_URL else ""
        self.started: list[subprocess.Popen[str]] = []
        self.environment = {
            **{name: value for name, value in os.environ.items() if name.lower() not in Config.model_fields},
            "DJANGO_SETTINGS_MODULE": settings,
            "MINARA_DATA_DIR": str(folder),
            "DATABASE_URL": self.url,
            "PYTHONPATH": str(ROOT),
        }
        if SERVER_URL and not database:
            server_query(f"CREATE DATABASE {self.database}" + (f" TEMPLATE {template.database}" if template else ""))
        if template:
            shutil.copytree(template.folder, folder, dirs_exist_ok=True)

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        """Start `minara …`; its output is the process's stdout."""
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env={**self.environment, **environment},
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str, typed: str = "", **environment: str) -> tuple[int, str]:
        """Run `minara …` to its end with this input; return the exit code and all output."""
        process = self.start(*arguments, **environment)
        output, _none = process.communicate(typed, timeout=300)
        return process.returncode, output

    def act(self, function: str, *arguments: Any) -> "subprocess.Popen[str]":
        """Start `module:function` in a process of its own with these settings."""
        module, name = function.split(":")
        code = f"import django; django.setup(); from {module} import {name}; print({name}(*{arguments!r}), flush=True)"
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def call(self, function: str, *arguments: Any) -> str:
        """Run `module:function` to its end and return what it printed."""
        process = self.act(function, *arguments)
        output, _none = process.communicate(timeout=120)
        assert process.returncode == 0, output
        return output.strip()

    def query(self, sql: str) -> list[Any]:
        """Run a statement on the main database, past Django."""
        if self.url:
            import psycopg

            with psycopg.connect(self.url, autocommit=True) as connection:
                cursor = connection.execute(sql)
                return cursor.fetchall() if cursor.description else []
        with closing(sqlite3.connect(self.folder / "minara.db", timeout=20)) as connection, connection:
            return connection.execute(sql).fetchall()

    def clear_queue(self) -> None:
        """Lose every message of the queue."""
        if self.url:
            self.query("DELETE FROM django_q_ormq")
            return
        with sqlite3.connect(self.folder / "queue.db", timeout=20) as connection:
            connection.execute("DELETE FROM django_q_ormq")

    def processes(self, *, naming: str = "") -> list[int]:
        """Return the ids of this site's live processes, oldest first, whose command line holds the text."""
        mark = f"MINARA_DATA_DIR={self.folder}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                environment = (path / "environ").read_bytes().split(b"\0")
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if mark in environment and naming in command and command:
                found.append(int(path.name))
        return sorted(found)

    def get(self, port: int, path: str) -> int:
        """Return the status of a page; 0 when nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def close(self) -> None:
        """End every process and drop the databases."""
        for process in self.started:
            if process.poll() is None:
                process.terminate()
        for process in self.started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        for process_id in self.processes():
            with suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(process_id, signal.SIGKILL)
        for process in self.started:
            for stream in filter(None, (process.stdin, process.stdout)):
                stream.close()
        if SERVER_URL:
            server_query(f"DROP DATABASE IF EXISTS {self.database} WITH (FORCE)")
        shutil.rmtree(self.folder, ignore_errors=True)
