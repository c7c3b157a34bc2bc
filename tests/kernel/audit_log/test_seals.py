"""Seals: everything settled comes under the chain once, in order, and nothing in flight falls behind it."""

import hashlib
import json
from datetime import UTC

import pytest
from django.db import DatabaseError, connection, transaction

from minara_site.kernel.audit_log import tasks
from minara_site.kernel.audit_log.chain import unsealed_entries
from minara_site.kernel.audit_log.models import AuditEntry, AuditSeal
from minara_site.kernel.audit_log.seals import find_settled_id, seal_next
from tests.kit.site import Site
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def line(entry):
    names = ("id", "actor", "owner_id", "tool_call", "reasoning", "request_id", "details")
    at = entry.at.astimezone(UTC).isoformat(timespec="microseconds")
    columns = {"at": at} | {name: getattr(entry, name) for name in names}
    return json.dumps(columns, sort_keys=True, separators=(",", ":")) + "\n"


def test_seals_in_batches_each_over_the_one_before(write, seal_all, now):
    ids = write(10)
    made = seal_all()
    found = [(seal.last_id, seal.entries, seal.sealed_at) for seal in made]
    assert found == [(ids[3], 4, now), (ids[7], 4, now), (ids[9], 2, now)]
    before = ""
    for seal, part in zip(made, (ids[:4], ids[4:8], ids[8:]), strict=True):
        lines = "".join(line(AuditEntry.objects.get(pk=pk)) for pk in part)
        before = hashlib.sha256((before + lines).encode()).hexdigest()
        assert seal.sha256 == before
    assert not unsealed_entries().exists()


def test_seals_what_is_new_only(write, seal_all):
    write(3)
    assert len(seal_all()) == 1
    assert seal_all() == []
    write(1)
    assert unsealed_entries().count() == 1
    assert [seal.entries for seal in seal_all()] == [1]


def test_leaves_what_came_after_the_look(write, now):
    ids = write(2)
    up_to = find_settled_id()
    write(2)
    assert seal_next(up_to=up_to, now=now).last_id == ids[1]
    assert seal_next(up_to=up_to, now=now) is None


def test_the_job_counts_what_it_sealed(write, now):
    assert tasks.seal(now=now) == {"seals": 0, "entries": 0}
    write(6)
    assert tasks.seal(now=now) == {"seals": 1, "entries": 6}
    assert tasks.seal(now=now) == {"seals": 0, "entries": 0}


@table("statement", ["UPDATE audit_seals SET entries = 1", "DELETE FROM audit_seals"])
def test_a_seal_cannot_be_changed(write, seal_all, statement):
    write(1)
    seal_all()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.processes
def test_of_several_sealers_and_writers_at_once_comes_one_chain(site: Site) -> None:
    assert site.call("tests.kernel.audit_log.sealers:race", 2, 3).splitlines()[-1] == "None 24 0"


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite gives ids in the order of commits")
def test_waits_for_no_long_write(write, now, monkeypatch):
    import psycopg

    from minara_site.kernel.audit_log import seals

    monkeypatch.setattr(seals, "MAX_WAIT_MILLISECONDS", 50)
    parameters = connection.get_connection_params()
    parameters.pop("cursor_factory", None)
    parameters.pop("context", None)
    write(1)
    with psycopg.connect(**parameters) as other:
        other.execute(
            "INSERT INTO audit_log (at, actor, tool_call, reasoning, request_id, details) "
            "VALUES (now(), 'x', 'x', '', '', '{}')"
        )
        assert find_settled_id() is None
        assert tasks.seal(now=now) == {"seals": 0, "entries": 0}
        other.rollback()
    assert tasks.seal(now=now) == {"seals": 1, "entries": 1}
    assert AuditSeal.objects.count() == 1
