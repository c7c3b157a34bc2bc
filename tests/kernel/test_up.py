"""`minara up`: one command, real processes, and one clear line when something is in the way."""

import os
import shutil
import signal
import threading

import pytest
from django.db import connection

from minara_site.kernel.processes.start import fingerprint_static_files
from tests.kit.site import free_port, wait_until
from tests.kit.slow import KeptConnection, count_ended, slow_sockets

pytestmark = pytest.mark.processes

WEB = "kernel.processes.web"
WORKER = "django worker"


@pytest.fixture
def started(site):
    """A function that starts the site and returns the process, its port, and its lines as they come."""

    def start(*flags):
        port = free_port()
        process = site.start("up", "--port", str(port), "--workers", "1", *flags)
        lines = []
        threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True).start()
        return process, port, lines

    return start


@pytest.fixture
def collected(site):
    """Let the site take its static files for collected: that takes seconds."""
    (site.folder / "static").mkdir(exist_ok=True)
    (site.folder / "static/.collected").write_text(fingerprint_static_files())


def is_said(lines, words):
    return next((line for line in lines if words in line), None)


def refusal(site, *flags, **environment):
    code, output = site.run("up", *flags, **environment)
    lines = output.strip().splitlines()
    assert code != 0
    assert len(lines) == 1, output
    return lines[0]


@pytest.mark.database
def test_starts_says_so_restarts_what_dies_and_stops_cleanly(site, started):
    process, port, lines = started()
    wait_until(lambda: is_said(lines, f"Ready: http://127.0.0.1:{port}"))
    assert f"http://127.0.0.1:{port}/welcome/" in is_said(lines, "Become the operator")
    assert site.get(port, "/healthz") == 200
    assert (site.folder / "static/staticfiles.json").exists()
    wait_until(lambda: site.get(port, "/readyz") == 200)

    before = set(site.processes(naming=WEB)) | set(site.processes(naming=WORKER))
    for name in (WEB, WORKER):
        os.kill(site.processes(naming=name)[0], signal.SIGKILL)
    wait_until(lambda: is_said(lines, "child=web") and is_said(lines, "child=worker"))
    wait_until(lambda: site.get(port, "/healthz") == 200)
    wait_until(lambda: site.processes(naming=WORKER))
    assert before.isdisjoint(site.processes(naming=WEB) + site.processes(naming=WORKER))

    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    wait_until(lambda: is_said(lines, "Stopped."))
    assert site.processes() == []


@pytest.mark.usefixtures("collected")
def test_once_somebody_operates_it_prints_no_link_and_its_children_die_with_it(site, started):
    code, output = site.run(
        "user",
        "create",
        "olga",
        "--role",
        "operator",
        "--password-stdin",
        typed="correct horse battery\n",
    )
    assert code == 0, output
    process, port, lines = started()
    wait_until(lambda: is_said(lines, "Ready"))
    assert not is_said(lines, "Become the operator")
    process.kill()
    process.wait()
    wait_until(lambda: site.processes() == [])
    assert site.get(port, "/healthz") == 0


@pytest.mark.usefixtures("collected")
def test_one_without_a_worker_starts_none_and_keeps_its_data_folder_to_itself(site, started):
    process, _port, lines = started("--no-worker")
    wait_until(lambda: is_said(lines, "Ready"))
    assert site.processes(naming=WORKER) == []
    assert f"Another `minara up` (process {process.pid}) runs on" in refusal(site, "--port", str(free_port()))


CALLS = (
    ("GET", "/healthz", b"", 200),
    ("POST", "/v1/memory", b'{"content": "x"}', 401),
    ("POST", "/mcp", b"x" * 5000, 401),
    ("POST", "/healthz", b"x", 403),
    ("GET", "/readyz", b"", 503),
    ("POST", "/v1/tools/memory_write", b"{}", 401),
)


@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("calls", [300, pytest.param(20_000, marks=pytest.mark.soak)])
def test_a_kept_connection_stays_beside_sockets_that_stall_and_is_never_dropped(started, calls):
    """What is refused before its body was read would end its connection, now and then."""
    process, port, lines = started("--no-worker")
    wait_until(lambda: is_said(lines, "Ready"))
    kept = [KeptConnection(port) for _each in range(4)]
    with slow_sockets(port, 48) as one_address, slow_sockets(port, 48, addresses=48) as many_addresses:
        for number in range(calls):
            method, path, body, status = CALLS[number % len(CALLS)]
            assert kept[number // 25 % len(kept)].call(method, path, body) == status, number
        if calls < 1_000:  # many take longer than a body may
            assert count_ended([*one_address, *many_addresses]) == 0
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def test_a_database_server_that_is_down_is_one_line(site):
    url = f"postgres://u:canary@127.0.0.1:{free_port()}/minara"
    line = refusal(site, "--port", str(free_port()), DATABASE_URL=url)
    assert "The database cannot be used" in line
    assert "canary" not in line


@pytest.mark.skipif(connection.vendor != "sqlite", reason="there the database is no file of ours")
def test_a_database_file_that_is_none_is_one_line(site):
    for name in ("queue.db", "minara.db"):
        for path in site.folder.glob(f"{name}*"):
            path.unlink()
        (site.folder / name).write_bytes(b"no database " * 1000)
        assert "The database cannot be used: file is not a database" in refusal(site, "--port", str(free_port()))


def test_what_the_machine_refuses_is_one_line(site):
    shutil.rmtree(site.folder / "static", ignore_errors=True)
    (site.folder / "static").touch()
    assert refusal(site, "--port", str(free_port())).startswith("minara: the machine refused: ")


def test_a_wrong_variable_is_one_line(site):
    assert refusal(site, MINARA_JOB_WORKERS="many").startswith("minara: MINARA_JOB_WORKERS:")
