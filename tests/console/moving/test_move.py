"""What an instance on SQLite holds, PostgreSQL holds after a move; what is in the way is one sentence before it."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from minara_site.console.moving.core import render_decimal, render_float, render_json, render_moment, render_text
from minara_site.console.moving.services import move_instance
from minara_site.kernel.errors import MinaraError
from minara_site.kernel.processes.start import hold_data_folder, migrate_databases
from tests.kit.databases import sqlite_template, using
from tests.kit.site import Site, free_port, server_query
from tests.kit.tables import Faults

pytestmark = [
    pytest.mark.database,
    pytest.mark.processes,
    pytest.mark.skipif(connection.vendor == "sqlite", reason="there is no server to move to"),
]
FILES = ("minara.db", "minara.db-wal", "queue.db")


@pytest.fixture
def old(tmp_path):
    """An installation on SQLite files of its own."""
    made = Site(tmp_path / "data", database="none")
    made.url = made.environment["DATABASE_URL"] = ""
    shutil.copytree(sqlite_template(), made.folder)
    yield made
    made.close()


@pytest.fixture
def new(tmp_path):
    """An installation on an empty PostgreSQL database."""
    made = Site(tmp_path / "data")
    yield made
    made.close()


def files_of(folder):
    return {"default": folder / "minara.db", "queue": folder / "queue.db"}


def refusal(folder, url):
    with pytest.raises(MinaraError) as caught:
        move_instance(files_of(folder), url, report=lambda what, done, total: None)
    return caught.value.detail


def change(folder, statement, *values):
    with closing(sqlite3.connect(folder / "minara.db")) as file, file:
        file.execute(statement, values)


@pytest.mark.parametrize(
    "table",
    [
        "memories",
        *(pytest.param(name, marks=pytest.mark.soak) for name in ("auth_group", "audit_log", "fact_verdicts")),
    ],
)
def test_a_killed_move_continues_and_moves_everything(old, new, table, tmp_path, django_db_blocker):
    old.call("tests.console.moving.instance:fill")
    with closing(sqlite3.connect(old.folder / "minara.db")) as file:  # a process that was killed leaves a log
        with file:
            file.execute("UPDATE memories SET origin = 'tab\t, line\n, \\N and \\' WHERE id = 1")
        shutil.copytree(old.folder, tmp_path / "left")
    shutil.rmtree(old.folder)
    shutil.move(tmp_path / "left", old.folder)
    (old.folder / "minara.db-shm").unlink()
    before = {name: (old.folder / name).read_bytes() for name in FILES}
    assert before["minara.db-wal"]

    killed = old.act("tests.console.moving.instance:move_and_die", new.url, table)
    assert killed.wait(300) == -signal.SIGKILL, killed.stdout.read()
    with django_db_blocker.unblock(), using({"default": new.database}):
        with pytest.raises(CommandError, match="has not ended"):
            migrate_databases()
        connection.close()
    other = shutil.copytree(old.folder, tmp_path / "other")
    change(other, "UPDATE memories SET origin = 'later' WHERE id = 2")
    assert "part of other or older" in refusal(other, new.url)

    process = old.start("move-to-postgres", "--to", new.url)
    output, _none = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert "continuing" in output
    assert {name: (old.folder / name).read_bytes() for name in FILES} == before
    assert new.query("SELECT count(*) FROM memories WHERE origin = E'tab\t, line\n, \\\\N and \\\\'") == [(1,)]
    before, after = (json.loads(site.call("tests.console.moving.instance:look")) for site in (old, new))
    assert after["rows"].keys() == before["rows"].keys()
    assert [name for name, rows in before["rows"].items() if after["rows"][name] != rows] == []
    assert len([name for name, rows in before["rows"].items() if rows]) > 50
    assert after["works"] == [[], None, True, "audit_log is append-only", 2]


DECISION = (
    "INSERT INTO shadow_decisions (capability, subject, decision, model, cost_usd, at) VALUES ('a', 'b', ?, '', 0, '')"
)
META = "INSERT INTO instance_meta (key, value) VALUES ('k', CAST(? AS TEXT))"
WRONG_FILES = {
    "minara.db is of another version": ("DELETE FROM django_migrations WHERE app = 'kernel'",),
    "minara.db is damaged: access_user_groups": ("INSERT INTO access_user_groups (user_id, group_id) VALUES (98, 99)",),
    "Table instance_meta, row k, column value: Remove the NUL": (META, b"a\0b"),
    "Table instance_meta, row k, column value: Remove the lone": (META, b"\xed\xa0\x80"),
    "row 1, column decision: Remove the lone surrogate": (DECISION, json.dumps({"a": ["\U0001f642", "\ud83d"]})),
    "row 1, column decision: Remove the NUL": (DECISION, json.dumps({"a\0": 1})),
}


def test_what_is_in_the_way_is_one_sentence_and_nothing_is_written(old, new, tmp_path):
    faults, ascii_name = Faults(), f"minara_site_{uuid4().hex}"
    for sentence, (statement, *values) in WRONG_FILES.items():
        with faults.row(sentence):
            folder = shutil.copytree(old.folder, tmp_path / str(len(sentence)) / sentence[-9:])
            change(folder, statement, *values)
            assert sentence in refusal(folder, new.url)
    torn = shutil.copytree(old.folder, tmp_path / "torn")
    (torn / "queue.db").write_bytes((torn / "queue.db").read_bytes()[:50_000])
    server_query(f"CREATE DATABASE {ascii_name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    rows = {
        "queue.db is damaged": (torn, new.url),
        "is missing": (tmp_path, new.url),
        "PostgreSQL refused: connection": (old.folder, f"postgres://u:canary@127.0.0.1:{free_port()}/x"),
        "--to must look like": (old.folder, "postgres://u:can/ary@127.0.0.1/x"),
        "not encoded as UTF8": (old.folder, new.url.replace(new.database, ascii_name)),
    }
    for sentence, (folder, url) in rows.items():
        with faults.row(sentence):
            assert sentence in (found := refusal(folder, url))
            assert "ary" not in found
    with faults.row("another process"):
        code = f"import sqlite3; c = sqlite3.connect({str(old.folder / 'queue.db')!r}); print(*c.execute('SELECT 1 FROM django_q_ormq'), flush=True); input()"
        with subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as user:
            user.stdout.readline()
            assert "Another process uses" in refusal(old.folder, new.url)
            user.communicate("\n")
    with faults.row("a running instance"), hold_data_folder(old.folder):
        code, output = old.run("move-to-postgres", "--to", new.url)
        assert code == 1
        assert "Another `minara up`" in output
    with faults.row("on PostgreSQL"), pytest.raises(CommandError, match="on PostgreSQL already"):
        call_command("move-to-postgres", to=new.url)
    assert new.query("SELECT count(*) FROM pg_stat_user_tables") == [(0,)]
    new.query("CREATE TABLE foreign_one ()")
    with faults.row("a foreign table"):
        assert "has tables, such as foreign_one" in refusal(old.folder, new.url)
    server_query(f"DROP DATABASE {ascii_name}")
    faults.show()


FLOATS = (0.1, -0.0, 1.0, 1e-5, 1e-4, 123456.789, 999999999999999.0, 1e15, 1234567890123456.0, 1e16, 1.5e300, 5e-324)
JSONS = (
    '{"bb": 1, "a": -0.0, "\u00e9": [1.50, 1e2, 2E-3, true, null, {}]}',
    '"\\u0001\\t\\"/\U0001f642 \\\\u0000"',
    "[18446744073709551616]",
)
MOMENTS = ("2026-01-01 00:00:00", "2026-01-01 00:00:00.120000", "2026-01-01 00:00:00.000001")


@pytest.mark.django_db
def test_every_value_is_written_as_postgresql_prints_it():
    rows = [("float8", value, render_float(value)) for value in FLOATS]
    rows += [("jsonb", text, render_json(text)) for text in JSONS]
    rows += [("timestamptz", f"{text}Z", render_moment(text)) for text in MOMENTS]
    rows += [
        ("numeric(38, 18)", repr(value), render_decimal(value, places=18)) for value in (7, 0.000000123, 61234.5678)
    ]
    rows += [("text", text, render_text(text)) for text in ("a\tb\n\v\f\b\r\\N", "é🙂", "")]
    faults = Faults()
    with connection.cursor() as cursor:
        for kind, value, expected in rows:
            with faults.row(f"{kind} {value!r}"):
                cursor.execute(f"CREATE TEMPORARY TABLE one AS SELECT %s::{kind} AS value", [value])
                with cursor.copy("COPY one TO STDOUT") as copy:
                    printed = b"".join(copy).decode()
                cursor.execute("DROP TABLE one")
                assert printed == f"{expected}\n"
    faults.show()
