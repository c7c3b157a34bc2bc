"""The `minara` script ends in one line, or in silence, never in a traceback."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from tests.kit.site import ROOT, Site

pytestmark = pytest.mark.processes


def test_a_reader_who_has_seen_enough_ends_it_silently(site: Site) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, str(ROOT / "manage.py"), "help"]
    done = subprocess.run(
        command,
        env=site.environment,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_an_interruption_is_one_line(site: Site) -> None:
    path = site.folder / "many.jsonl"
    path.write_text("".join(json.dumps({"content": f"memory number {number}"}) + "\n" for number in range(5_000)))
    process = site.start("import", str(path), "--from", "jsonl")
    assert process.stdout
    process.stdout.readline()  # what follows does not fit into the pipe, so that the command is still at it
    process.send_signal(signal.SIGINT)
    output, _none = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in output
    assert "minara: interrupted." in output


def test_migrate_brings_the_file_of_the_queue_too(site: Site) -> None:
    (site.folder / "queue.db").unlink()
    assert site.run("migrate", "-v0") == (0, "")
    with sqlite3.connect(site.folder / "queue.db") as queue:
        assert queue.execute("SELECT count(*) FROM django_q_ormq").fetchone() == (0,)
