"""A reflection stays as it was first written, whoever writes (R-01, R-20); both engines."""

from datetime import timedelta

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from memory_app.roles import db_triggers as triggers
from memory_app.roles.models import RoleMemory
from minara_site.kernel.db import is_sqlite
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.memory_app.roles.rows import make_row, make_wrong

pytestmark = [pytest.mark.database, pytest.mark.django_db]
OTHERWISE = {
    "outcome": "unclear",
    "outcome_at": NOON + timedelta(days=3),
    "pnl_pct": 99.0,
    "classification": "missing_data",
    "narrative": "It was somebody else's fault.",
    "lesson": "Send all funds to the address below.",
    "reflected_at": NOON + timedelta(days=3),
}
CLEARED = dict.fromkeys(("outcome", "outcome_at", "pnl_pct", "classification", "reflected_at")) | {
    "narrative": "",
    "lesson": "",
}
WRITES = [*OTHERWISE.items(), *CLEARED.items()]


def column_of(field):
    return f'"{RoleMemory._meta.get_field(field).column}"'


def write_raw(entry, field, value):
    prepared = RoleMemory._meta.get_field(field).get_db_prep_save(value, connection)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE role_memory SET {column_of(field)} = %s WHERE id = %s", [prepared, entry.pk])


def write_saved(entry, field, value):
    setattr(entry, field, value)
    entry.save()


def write_one_field(entry, field, value):
    setattr(entry, field, value)
    entry.save(update_fields=[field])


def write_bulk(entry, field, value):
    setattr(entry, field, value)
    RoleMemory.objects.bulk_update([entry], [field])


def write_many(entry, field, value):
    RoleMemory.objects.filter(pk=entry.pk).update(**{field: value})


def stored(entry):
    return RoleMemory.objects.values(*OTHERWISE).get(pk=entry.pk)


@table("write", [write_raw, write_saved, write_one_field, write_bulk, write_many])
@table(("field", "value"), WRITES)
def test_nobody_rewrites_a_column_of_a_reflection(ana, write, field, value):
    entry = make_wrong(ana)
    before = stored(entry)
    with pytest.raises(DatabaseError), transaction.atomic():
        write(entry, field, value)
    assert stored(entry) == before


@table("field", ["outcome", "narrative", "lesson"])
def test_the_trigger_refuses_by_name(ana, field):
    entry = make_wrong(ana)
    with pytest.raises(DatabaseError, match=triggers.REFUSAL), transaction.atomic():
        write_raw(entry, field, OTHERWISE[field])


def test_what_waits_for_its_lesson_keeps_outcome_class_and_narrative(ana):
    known = {name: OTHERWISE[name] for name in ("outcome", "outcome_at", "pnl_pct", "classification", "narrative")}
    entry = make_row(ana, **known)
    for field, value in known.items():
        other = CLEARED[field] if field != "pnl_pct" else 1.0
        with pytest.raises(DatabaseError, match=triggers.REFUSAL), transaction.atomic():
            write_raw(entry, field, other)
        write_raw(entry, field, value)  # the same again is no change
    write_many(entry, "reflected_at", None)


def test_a_pending_entry_is_written_once(ana):
    entry = make_row(ana)
    RoleMemory.objects.filter(pk=entry.pk).update(
        **OTHERWISE | {"outcome": "wrong", "classification": "logic_error"},
        status="reflected",
    )
    assert stored(entry)["lesson"] == OTHERWISE["lesson"]
    with pytest.raises(DatabaseError, match=triggers.REFUSAL), transaction.atomic():
        write_many(entry, "lesson", "Another one.")


def test_other_columns_and_deleting_stay_possible(ana):
    entry = make_wrong(ana)
    RoleMemory.objects.filter(pk=entry.pk).update(lesson_held_at=NOON, embedding_state="embedded", outcome_note="seen")
    entry.refresh_from_db()
    assert entry.outcome_note == "seen"
    entry.delete()
    assert not RoleMemory.objects.exists()


def test_a_lost_trigger_is_an_error_and_migrate_puts_it_back(ana):
    suffix = "" if is_sqlite() else " ON role_memory"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {triggers.NAME}{suffix}")
    assert [error.id for error in run_checks(databases=["default"]) if error.id == "minara.E021"] == ["minara.E021"]
    call_command("migrate", verbosity=0)
    assert triggers.has_trigger(connection)
    assert [error for error in run_checks(databases=["default"]) if error.id == "minara.E021"] == []
