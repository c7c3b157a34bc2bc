"""Housekeeping: what was deleted is in neither the file nor its log. Reading alone: the database refuses all writes."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.db import WriteRefused, insert_row, read_only
from minara_site.kernel.jobs.models import Lease
from tests.kit.clock import NOON
from tests.kit.site import SERVER_URL
from tests.kit.tables import table

pytestmark = pytest.mark.database


def leave_and_remove(canary: str) -> bool:
    """Write a row, delete it, and checkpoint; runs in a process of its own."""
    from minara_site.kernel.db import checkpoint, vacuum

    Lease.objects.create(name=canary, holder="x", expires_at="2030-01-01T00:00:00Z")
    Lease.objects.filter(name=canary).delete()
    vacuum()
    return checkpoint()


@pytest.mark.processes
def test_a_checkpoint_leaves_nothing_of_a_deleted_row(site):
    canary = "canary-3f9a"
    assert site.call("tests.kernel.test_db:leave_and_remove", canary) == "True"
    files = [] if SERVER_URL else list(site.folder.glob("minara.db*"))
    assert [path.name for path in files if canary.encode() in path.read_bytes()] == []


WRITES = {
    "insert": "INSERT INTO leases (name, holder, expires_at) VALUES ('b', 'x', '2030-01-01 00:00:00')",
    "a comment first": "/* a read */ UPDATE leases SET holder = 'x'",
    "inside a query": "WITH a AS (SELECT 1) DELETE FROM leases",
    "a table": "CREATE TABLE canary (id integer)",
    "an index": "CREATE INDEX canary ON leases (holder)",
}


def make(name: str) -> Lease:
    return Lease.objects.create(name=name, holder="me", expires_at=NOON)


def names() -> list[str]:
    return sorted(Lease.objects.values_list("name", flat=True))


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def write_in_a_transaction() -> None:
    with transaction.atomic():
        assert names() == ["a"]
        make("b")


def is_refused(write) -> None:
    """Let the database refuse a write, then read and write as before."""
    state = (connection.in_atomic_block, connection.get_autocommit(), len(connection.savepoint_ids))
    with pytest.raises(WriteRefused), read_only():  # noqa: PT012 - the read before is part of it
        assert names() == ["a"]
        write()
    assert state == (connection.in_atomic_block, connection.get_autocommit(), len(connection.savepoint_ids))
    assert list(Lease.objects.values_list("name", "holder")) == [("a", "me")]
    make("c").delete()


@pytest.mark.django_db(transaction=True)
def test_every_write_is_refused_and_then_the_connection_writes_again():
    make("a")
    writes = [lambda: make("b"), Lease.objects.all().delete, write_in_a_transaction]
    writes += [lambda sql=sql: execute(sql) for sql in WRITES.values()]
    for write in writes:
        is_refused(write)
        with transaction.atomic():
            make("d")
            Lease.objects.filter(name="d").delete()
            is_refused(write)
    assert "canary" not in connection.introspection.table_names()


@table("is_inside", [False, True], ids=["alone", "in a transaction"])
@pytest.mark.django_db(transaction=True)
def test_after_an_error_and_after_a_read_the_connection_writes_again(is_inside):
    def outer():
        with pytest.raises(ZeroDivisionError), read_only():
            raise ZeroDivisionError
        with read_only():
            assert names() == before
        make(f"after {is_inside}")

    before = names()
    if is_inside:
        with transaction.atomic():
            outer()
    else:
        outer()
    assert not connection.in_atomic_block
    assert names() == sorted([*before, f"after {is_inside}"])


@pytest.mark.django_db(transaction=True)
def test_who_only_reads_keeps_no_writer_waiting():
    def write() -> None:
        make("b")
        connection.close()

    with read_only(), ThreadPoolExecutor(1) as other:
        assert names() == []
        other.submit(write).result(10)
    assert names() == ["b"]


@pytest.mark.django_db
def test_what_was_written_before_stays_and_a_block_in_a_block_ends_with_the_outer_one():
    make("a")
    with pytest.raises(WriteRefused), read_only():  # noqa: PT012 - what the inner block leaves decides
        with read_only():
            assert names() == ["a"]
        make("b")
    make("c")
    assert names() == ["a", "c"]


@pytest.mark.django_db
def test_a_transaction_that_is_to_be_rolled_back_leaves_no_connection_that_only_reads():
    with transaction.atomic():
        with pytest.raises(ZeroDivisionError), read_only(), transaction.atomic(savepoint=False):
            raise ZeroDivisionError
        transaction.set_rollback(True)
    make("a")


@pytest.mark.django_db
def test_another_failure_of_the_database_stays_what_it_is():
    with pytest.raises(IntegrityError), read_only():
        raise IntegrityError


@pytest.mark.usefixtures("db")
def test_a_row_is_stored_as_save_stores_it():
    rows = [
        AuditEntry(at=NOON, actor="user:1", tool_call="memory_write", reasoning="50 % of it's", details={"n": [1, "a"]})
        for _store in range(2)
    ]
    insert_row(rows[0])
    rows[1].save(force_insert=True)
    stored = [AuditEntry.objects.filter(pk=row.pk).values().get() for row in rows]
    assert [row._state.adding for row in rows] == [False, False]
    assert stored[0] | {"id": stored[1]["id"]} == stored[1]
