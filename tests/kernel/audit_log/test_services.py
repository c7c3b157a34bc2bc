"""The audit log is append-only, even from SQL."""

import pytest
from django.db import DatabaseError, connection, transaction

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import record_audit
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def refuses(statement):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    return AuditEntry.objects.get().actor == "user:1"


@table("statement", ["UPDATE audit_log SET actor = 'x'", "DELETE FROM audit_log"])
def test_refuses_to_change_what_was_recorded(now, statement):
    record_audit(now=now, actor="user:1", tool_call="memory_removed", details={"id": 7})
    assert refuses(statement)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no REPLACE")
def test_refuses_to_replace_what_was_recorded(now):
    record_audit(now=now, actor="user:1", tool_call="memory_removed", details={"id": 7})
    columns = "id, at, actor, tool_call, reasoning, request_id, details"
    copy = "id, at, 'x', tool_call, reasoning, request_id, details"
    assert refuses(f"REPLACE INTO audit_log ({columns}) SELECT {copy} FROM audit_log")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no TRUNCATE")
def test_refuses_to_be_emptied(now):
    record_audit(now=now, actor="user:1", tool_call="memory_removed", details={"id": 7})
    assert refuses("TRUNCATE audit_log")


def test_keeps_no_secret_of_the_reasoning(now):
    record_audit(now=now, actor="user:1", tool_call="memory_write", reasoning="the key is sk-ant-api03-" + "A1b2" * 20)
    assert "A1b2A1b2" not in AuditEntry.objects.get().reasoning
