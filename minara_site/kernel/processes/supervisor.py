"""One supervisor over the children of `minara up`: it starts them, starts them again when they die, and stops them."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from minara_site.kernel.processes.lifeline import follow_parent

STOP_SECONDS = 10
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0

log = structlog.get_logger(__name__)


def pause_after(deaths: int) -> float:
    """Return how many seconds to wait before the start that follows this many deaths in a row: 0.5, 1, 2 ... 30."""
    return float(min(2.0 ** (deaths - 2), LONGEST_PAUSE_SECONDS))


@dataclass
class Child:
    """One supervised process, in a process group of its own."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    process: "subprocess.Popen[bytes] | None" = None
    deaths: int = 0
    started_at: float = 0.0
    due_at: float = field(default_factory=time.monotonic)

    def start(self) -> None:
        """Start the process; it gets SIGTERM should this one die."""
        parent = os.getpid()
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            self.command,
            env=self.environment,
            start_new_session=True,
            preexec_fn=lambda: follow_parent(parent, signal.SIGTERM),  # noqa: PLW1509 - the supervisor has one thread
        )
        self.started_at = time.monotonic()

    def check_child(self) -> None:
        """Notice a death, and start the process when it is due."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None:
            self.handle_exit(now)
        if self.process is None and now >= self.due_at:
            self.start()

    def handle_exit(self, now: float) -> None:
        """Log the death, end what is left of the group, and set when to start again."""
        assert self.process is not None
        self.kill_group(signal.SIGKILL)
        self.deaths = 1 if now - self.started_at > STEADY_SECONDS else self.deaths + 1
        pause = pause_after(self.deaths)
        log.error(
            "child_died",
            child=self.name,
            code=self.process.returncode,
            restart_in_seconds=pause,
        )
        self.process, self.due_at = None, now + pause

    def kill_group(self, number: signal.Signals) -> None:
        """Send a signal to the process and everything it started."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


def supervise(
    children: Sequence[Child],
    *,
    is_over: Callable[[], bool],
    step: Callable[[], None],
) -> None:
    """Keep the children alive until it is over, calling `step` between two looks; then stop them all."""
    try:
        while not is_over():
            for child in children:
                child.check_child()
            step()
    finally:
        stop_children(children)


def stop_children(children: Sequence[Child]) -> None:
    """Ask the children to end; after `STOP_SECONDS` end them and what they started."""
    running = [child for child in children if child.process is not None]
    for child in running:
        assert child.process is not None
        child.process.terminate()
    until = time.monotonic() + STOP_SECONDS
    for child in running:
        assert child.process is not None
        try:
            child.process.wait(max(until - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            log.warning("child_killed", child=child.name)
        child.kill_group(signal.SIGKILL)
        child.process.wait()
