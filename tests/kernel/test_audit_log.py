"""The audit log is append-only, even from SQL."""

import pytest
from django.db import DatabaseError, connection, transaction

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import record_audit

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("statement", ["UPDATE audit_log SET actor = 'x'", "DELETE FROM audit_log"])
def test_refuses_to_change_what_was_recorded(now, statement):
    record_audit(now=now, actor="user:1", tool_call="memory_removed", details={"id": 7})
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert AuditEntry.objects.get().actor == "user:1"


def test_keeps_no_secret_of_the_reasoning(now):
    record_audit(now=now, actor="user:1", tool_call="memory_write", reasoning="the key is sk-ant-api03-" + "A1b2" * 20)
    assert "A1b2A1b2" not in AuditEntry.objects.get().reasoning
