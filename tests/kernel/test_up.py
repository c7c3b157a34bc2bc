"""`minara up`: one command, real processes, and one clear line when something is in the way."""

import os
import shutil
import signal
import socket
import threading

import pytest
from django.db import connection

from tests.kit.site import ROOT, free_port, wait_until

pytestmark = pytest.mark.processes

WEB = "kernel.processes.web"
WORKER = "django worker"


@pytest.fixture(scope="module")
def static_files(migrated_site):
    """The collected static files, made once for all starts."""
    migrated_site.call("minara_site.kernel.processes.start:collect_static_files")
    return migrated_site.folder / "static"


@pytest.fixture
def started(site, static_files):
    """A function that starts the site and returns the process, its port, and its lines as they come."""
    if not (site.folder / "static").exists():
        (site.folder / "static").symlink_to(static_files)

    def start(*flags):
        port = free_port()
        process = site.start("up", "--port", str(port), "--workers", "1", *flags)
        lines = []
        threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True).start()
        return process, port, lines

    return start


def is_said(lines, words):
    return next((line for line in lines if words in line), None)


def test_starts_says_so_and_stops_cleanly(site, started):
    process, port, lines = started()
    wait_until(lambda: is_said(lines, f"Ready: http://127.0.0.1:{port}"))
    assert f"http://127.0.0.1:{port}/welcome/" in is_said(lines, "Become the operator")
    assert site.get(port, "/healthz") == 200
    wait_until(lambda: site.get(port, "/readyz") == 200)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    wait_until(lambda: is_said(lines, "Stopped."))
    assert site.processes() == []


def test_restarts_a_dead_child(site, started):
    _process, port, lines = started()
    wait_until(lambda: is_said(lines, "Ready"))
    wait_until(lambda: site.processes(naming=WORKER))
    before = set(site.processes(naming=WEB)) | set(site.processes(naming=WORKER))
    for name in (WEB, WORKER):
        os.kill(site.processes(naming=name)[0], signal.SIGKILL)
    wait_until(lambda: is_said(lines, "child=web") and is_said(lines, "child=worker"))
    wait_until(lambda: site.get(port, "/healthz") == 200)
    wait_until(lambda: site.processes(naming=WORKER))
    assert before.isdisjoint(site.processes(naming=WEB) + site.processes(naming=WORKER))


def test_children_die_with_a_killed_supervisor(site, started):
    process, port, lines = started()
    wait_until(lambda: is_said(lines, "Ready"))
    process.kill()
    process.wait()
    wait_until(lambda: site.processes() == [])
    assert site.get(port, "/healthz") == 0


def test_prints_no_link_once_somebody_operates(site, started):
    code, output = site.run(
        "user", "create", "olga", "--role", "operator", "--password-stdin", typed="correct horse battery\n"
    )
    assert code == 0, output
    _process, _port, lines = started("--no-worker")
    wait_until(lambda: is_said(lines, "Ready"))
    assert not is_said(lines, "Become the operator")
    assert site.processes(naming=WORKER) == []


def refusal(site, *flags, **environment):
    code, output = site.run("up", *flags, **environment)
    lines = output.strip().splitlines()
    assert code != 0
    assert len(lines) == 1, output
    return lines[0]


def test_a_taken_port_is_one_line(site):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"Port {port} on 127.0.0.1 is taken." in refusal(site, "--port", port)


def test_a_host_that_is_not_ours_is_one_line(site):
    assert "Cannot listen on 192.0.2.1" in refusal(site, "--host", "192.0.2.1", "--port", str(free_port()))


def test_a_second_start_on_the_same_folder_is_one_line(site, started):
    process, _port, lines = started("--no-worker")
    wait_until(lambda: is_said(lines, "Data folder"))
    assert f"Another `minara up` (process {process.pid}) runs on" in refusal(site, "--port", str(free_port()))


def test_a_database_server_that_is_down_is_one_line(site):
    url = f"postgres://u:canary@127.0.0.1:{free_port()}/minara"
    line = refusal(site, "--port", str(free_port()), DATABASE_URL=url)
    assert "The database cannot be used" in line
    assert "canary" not in line


@pytest.mark.skipif(connection.vendor != "sqlite", reason="there the database is no file of ours")
@pytest.mark.parametrize("name", ["minara.db", "queue.db"])
def test_a_database_file_that_is_none_is_one_line(site, name):
    for path in site.folder.glob(f"{name}*"):
        path.unlink()
    (site.folder / name).write_bytes(b"no database " * 1000)
    assert "The database cannot be used: file is not a database" in refusal(site, "--port", str(free_port()))


def test_what_the_machine_refuses_is_one_line(site):
    shutil.rmtree(site.folder / "static", ignore_errors=True)
    (site.folder / "static").touch()
    assert refusal(site, "--port", str(free_port())).startswith("minara: the machine refused: ")


def test_a_data_folder_that_cannot_be_made_is_one_line(site):
    folder = str(ROOT / "manage.py" / "data")
    assert refusal(site, MINARA_DATA_DIR=folder).startswith("minara: MINARA_DATA_DIR:")


def test_a_wrong_variable_is_one_line(site):
    assert refusal(site, MINARA_JOB_WORKERS="many").startswith("minara: MINARA_JOB_WORKERS:")


@pytest.mark.parametrize(
    "flags", [("--port", "0"), ("--port", "65536"), ("--port", "http"), ("--workers", "0"), ("--workers", "-1")]
)
def test_a_number_that_cannot_be_is_refused(site, flags):
    code, output = site.run("up", *flags)
    assert code != 0
    assert f"error: argument {flags[0]}: choose " in output
