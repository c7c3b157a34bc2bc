"""`/user-profile/`: add, edit in place, remove with one undo."""

from datetime import timedelta

import pytest

from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import set_entry
from minara_site.access.models import AccessEntry
from tests.kit.page import text_of
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def entry(ana, now):
    return set_entry(owner=ana, key="risk", value="conservative", actor="test", now=now).entry


def values():
    return dict(UserProfileEntry.objects.values_list("key", "value"))


def test_the_empty_list_says_what_belongs_here(page):
    assert "risk_tolerance: conservative" in text_of(page.get("/user-profile/"))


def test_adds(page):
    answer = page.post("/user-profile/add/", {"key": "chains", "value": "base & arbitrum"})
    assert (answer.status_code, answer["Location"]) == (303, "/user-profile/")
    assert values() == {"chains": "base & arbitrum"}
    shown = text_of(page.get("/user-profile/"))
    assert "base &amp; arbitrum" in shown
    assert "Added. It is read from the next session on." in shown


@table("fields", [{"key": "a b", "value": "x"}, {"key": "a", "value": ""}, {}, {"key": "risk", "value": "bold"}])
def test_refuses_beside_the_field_and_keeps_what_was_typed(page, entry, fields):
    answer = page.post("/user-profile/add/", fields)
    shown = text_of(answer, 422)
    assert 'role="alert"' in shown
    assert values() == {"risk": "conservative"}
    if fields:
        assert f'value="{fields["key"]}"' in shown


def test_edits_in_the_row_and_without_javascript(page, entry):
    address = "/user-profile/risk/edit/"
    assert text_of(page.get(address, headers=HTMX)).lstrip().startswith("<tr")
    typed = {"value": "balanced", "updated_at": entry.updated_at.isoformat()}
    text_of(page.post(address, {**typed, "value": "a\u2028b"}, headers=HTMX), 422)
    assert "balanced" in text_of(page.post(address, typed, headers=HTMX))
    assert values() == {"risk": "balanced"}
    assert "<h1" in text_of(page.get(address))
    updated_at = UserProfileEntry.objects.get().updated_at.isoformat()
    assert page.post(address, {"value": "bold", "updated_at": updated_at}).status_code == 303
    assert values() == {"risk": "bold"}


@table("stale", [{"updated_at": "2020-01-01T00:00:00+00:00"}, {"updated_at": "x"}, {}])
def test_a_stale_edit_shows_both_and_overwrites_nothing(page, entry, stale):
    answer = page.post("/user-profile/risk/edit/", {"value": "bold", **stale})
    shown = text_of(answer, 409)
    assert "This changed since you opened it" in shown
    assert "conservative" in shown
    assert 'value="bold"' in shown
    assert values() == {"risk": "conservative"}


@pytest.mark.database
def test_removes_and_brings_back_once(page, entry):
    answer = page.post("/user-profile/risk/remove/", headers=HTMX)
    assert "/user-profile/undo/" in text_of(answer)
    assert values() == {}
    assert page.post("/user-profile/undo/").status_code == 303
    assert values() == {"risk": "conservative"}
    assert page.post("/user-profile/undo/").status_code == 404


def test_an_undo_does_not_overwrite_what_was_added_since(page, entry):
    page.post("/user-profile/risk/remove/")
    page.post("/user-profile/add/", {"key": "risk", "value": "bold"})
    assert page.post("/user-profile/undo/").status_code == 409
    assert values() == {"risk": "bold"}


@pytest.mark.database
def test_searches_and_sorts(page, entry, ana, now):
    set_entry(owner=ana, key="chains", value="base", actor="test", now=now + timedelta(hours=1))
    assert "conservative" not in text_of(page.get("/user-profile/?q=chain"))
    newest = text_of(page.get("/user-profile/?sort=newest"))
    assert newest.index("chains") < newest.index("conservative")


def test_an_operator_reads_but_does_not_edit_and_leaves_a_trace(operator_page, olga, ana, entry):
    shown = text_of(operator_page.get("/user-profile/?owner=ana"))
    assert "conservative" in shown
    assert "/user-profile/risk/edit/" not in shown
    assert "Add an entry" not in shown
    assert list(AccessEntry.objects.values_list("viewer", "owner", "kind")) == [(olga.pk, ana.pk, "user_profile")]
