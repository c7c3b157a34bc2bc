"""A small chain to tamper with, and SQL that gets past the triggers."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from minara_site.kernel.audit_log import db_triggers, seals
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import record_audit


@pytest.fixture
def write(now: datetime) -> Callable[[int], list[int]]:
    """Record this many acts and return their ids."""

    def record(count: int) -> list[int]:
        return [
            record_audit(
                now=now + timedelta(seconds=number),
                actor="user:1",
                tool_call="memory_write",
                reasoning="„Grund“ 理由",
                details={"id": number, "share": 0.1, "list": [1, None, True]},
            ).pk
            for number in range(count)
        ]

    return record


@pytest.fixture
def seal_all(now: datetime, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Any]]:
    """Seal what there is, four entries at a time."""
    monkeypatch.setattr(seals, "MAX_PER_SEAL", 4)

    def seal() -> list[Any]:
        up_to = seals.find_settled_id()
        return list(iter(lambda: seals.seal_next(up_to=up_to, now=now), None))

    return seal


@pytest.fixture
def tamper(db: None) -> Callable[..., None]:
    """Run a statement as somebody does who owns the database: without the triggers."""

    def execute(statement: str, *values: Any) -> None:
        with connection.cursor() as cursor:
            statements = db_triggers.sqlite_drop if connection.vendor == "sqlite" else db_triggers.postgresql_drop
            again = db_triggers.sqlite if connection.vendor == "sqlite" else db_triggers.postgresql
            for table in db_triggers.TABLES:
                for each in statements(table):
                    cursor.execute(each)
            cursor.execute(statement, values)
            for table in db_triggers.TABLES:
                for each in again(table):
                    cursor.execute(each)

    return execute


@pytest.fixture
def copy_entry(tamper: Callable[..., None]) -> Callable[[int, int], None]:
    """Slip a copy of an entry in under an id."""

    def copy(entry_id: int, new_id: int) -> None:
        columns = [field.column for field in AuditEntry._meta.concrete_fields if field.column != "id"]
        names = ", ".join(columns)
        tamper(f"INSERT INTO audit_log (id, {names}) SELECT %s, {names} FROM audit_log WHERE id = %s", new_id, entry_id)

    return copy
