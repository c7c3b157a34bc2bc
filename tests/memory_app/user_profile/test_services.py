"""The user profile: one value per key, each change recorded."""

from datetime import timedelta

import pytest

from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.selectors import get_entry, list_entries
from memory_app.user_profile.services import MAX_ENTRIES, MAX_VALUE_CHARS, remove_entry, set_entry
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.errors import Conflict, Invalid, NotFound
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
LATER = timedelta(hours=1)


def put(owner, now, key="risk_tolerance", value="conservative", **fields):
    return set_entry(owner=owner, key=key, value=value, actor="user:1", now=now, **fields)


@pytest.mark.database
def test_sets_and_changes_one_value(ana, now):
    first = put(ana, now, value="  conservative ")
    second = put(ana, now + LATER, value="balanced")
    assert (first.is_new, second.is_new) == (True, False)
    [entry] = list_entries(owner=ana)
    assert (entry.key, entry.value, entry.updated_at) == ("risk_tolerance", "balanced", now + LATER)


def test_the_same_value_again_changes_nothing(ana, now):
    put(ana, now)
    assert put(ana, now + LATER).entry.updated_at == now
    assert AuditEntry.objects.count() == 1


@table("key", ["a", "home_language", "chain.base-2", "9", "A" * 64])
def test_takes_plain_keys(ana, now, key):
    assert put(ana, now, key=f" {key} ").entry.key == key


@table("key", ["", " ", "-a", "_a", ".", "a b", "a/b", "a:b", "é", "a" * 65, "a\0", "山"])
def test_refuses_other_keys(ana, now, key):
    with pytest.raises(Invalid) as refused:
        put(ana, now, key=key)
    assert [error.field for error in refused.value.errors] == ["key"]
    assert not UserProfileEntry.objects.exists()


@table("value", ["x", "山" * MAX_VALUE_CHARS, "a: b", "<b>"])
def test_takes_one_line(ana, now, value):
    assert put(ana, now, value=value).entry.value == value


@table("value", ["", " \n", "x" * (MAX_VALUE_CHARS + 1), "a\nb", "a\rb", "a\u2028b", "a\x85b", "a\0", "\ud800"])
def test_refuses_other_values(ana, now, value):
    with pytest.raises(Invalid) as refused:
        put(ana, now, value=value)
    assert [error.field for error in refused.value.errors] == ["value"]
    assert not UserProfileEntry.objects.exists()


@pytest.mark.database
def test_a_full_profile_takes_no_new_key_but_changes(ana, ben, now):
    UserProfileEntry.objects.bulk_create(
        UserProfileEntry(owner=ana, key=f"key{n}", value="x", updated_at=now) for n in range(MAX_ENTRIES)
    )
    with pytest.raises(Conflict) as refused:
        put(ana, now)
    assert refused.value.problem_code == "profile_full"
    assert not put(ana, now, key="key7", value="y").is_new
    assert put(ben, now).is_new


@pytest.mark.database
def test_a_name_that_is_taken_is_not_overwritten(ana, now):
    put(ana, now)
    with pytest.raises(Conflict) as refused:
        put(ana, now, value="bold", must_be_new=True)
    assert refused.value.problem_code == "exists"
    assert get_entry(owner=ana, key="risk_tolerance").value == "conservative"


@pytest.mark.database
def test_of_two_editors_the_second_is_told(ana, now):
    put(ana, now)
    put(ana, now + LATER, value="bold", expected_updated_at=now)
    with pytest.raises(Conflict) as refused:
        put(ana, now + LATER, value="timid", expected_updated_at=now)
    assert refused.value.current == {"key": "risk_tolerance", "value": "bold", "updated_at": now + LATER}
    assert get_entry(owner=ana, key="risk_tolerance").value == "bold"


def test_removes_for_good(ana, now):
    put(ana, now)
    removed = remove_entry(owner=ana, key="risk_tolerance", actor="user:1", now=now)
    assert removed.value == "conservative"
    with pytest.raises(NotFound):
        remove_entry(owner=ana, key="risk_tolerance", actor="user:1", now=now)
    assert not UserProfileEntry.objects.exists()


@pytest.mark.database
def test_owners_do_not_meet(ana, ben, now):
    put(ana, now)
    put(ben, now, value="bold")
    assert get_entry(owner=ana, key="risk_tolerance").value == "conservative"
    remove_entry(owner=ben, key="risk_tolerance", actor="user:2", now=now)
    assert list_entries(owner=ana).count() == 1
    with pytest.raises(NotFound):
        get_entry(owner=ben, key="risk_tolerance")


@pytest.mark.database
def test_every_change_is_recorded_by_key_and_hash(ana, now):
    put(ana, now)
    remove_entry(owner=ana, key="risk_tolerance", actor="user:1", now=now)
    rows = AuditEntry.objects.order_by("pk").values_list("tool_call", "owner_id", "details")
    digest = content_digest("conservative")
    assert list(rows) == [
        ("user_profile_set", ana.pk, {"key": "risk_tolerance", "sha256": digest}),
        ("user_profile_removed", ana.pk, {"key": "risk_tolerance", "sha256": digest}),
    ]


@pytest.mark.database
def test_an_edit_of_what_was_removed_meanwhile_stores_nothing(ana, now):
    put(ana, now)
    remove_entry(owner=ana, key="risk_tolerance", actor="user:1", now=now)
    with pytest.raises(NotFound):
        put(ana, now + LATER, value="bold", expected_updated_at=now)
    assert not UserProfileEntry.objects.exists()
