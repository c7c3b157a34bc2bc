"""The supervisor's own rules; `test_up` sees them at work."""

import os
import signal
import sys
import time
from types import SimpleNamespace

import pytest

from minara_site.kernel.processes import signals, supervisor
from minara_site.kernel.processes.signals import StopRequest
from minara_site.kernel.processes.supervisor import Child, pause_after, stop_children, supervise
from tests.kit.site import wait_until
from tests.kit.tables import table

STUBBORN = """
import pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path({ready!r}).touch()
time.sleep(60)
"""


def make_child(code):
    return Child("child", (sys.executable, "-c", code), dict(os.environ))


def test_waits_longer_after_each_death_up_to_half_a_minute():
    assert [pause_after(deaths) for deaths in range(1, 9)] == [0.5, 1, 2, 4, 8, 16, 30, 30]


@pytest.mark.processes
def test_starts_a_child_again_and_counts_its_deaths(monkeypatch):
    monkeypatch.setattr(supervisor, "pause_after", lambda deaths: 60.0 * (deaths > 1))
    child = make_child("raise SystemExit(3)")
    supervise([child], is_over=lambda: child.deaths == 2, step=lambda: child.process and child.process.wait())
    assert child.process is None


@pytest.mark.processes
def test_a_child_that_lived_long_begins_its_count_anew(monkeypatch):
    monkeypatch.setattr(supervisor, "STEADY_SECONDS", -1.0)
    child = make_child("")
    child.deaths = 6
    child.start()
    child.process.wait()
    child.check_child()
    assert child.deaths == 1


@pytest.mark.processes
def test_ends_a_child_that_does_not_stop(monkeypatch, tmp_path):
    monkeypatch.setattr(supervisor, "STOP_SECONDS", 0.3)
    ready = tmp_path / "ready"
    child = make_child(STUBBORN.format(ready=str(ready)))
    child.start()
    wait_until(ready.exists)
    stop_children([child])
    assert child.process.returncode == -signal.SIGKILL


@pytest.fixture
def handlers():
    """The handlers of the signals, put back at the end."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@table("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_wait(handlers, monkeypatch, number):
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        os.kill(os.getpid(), number)

    monkeypatch.setattr(signals, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    stop = StopRequest()
    assert not stop.is_asked
    stop.wait(60)
    assert stop.is_asked
    assert slept == [signals.STEP_SECONDS]
