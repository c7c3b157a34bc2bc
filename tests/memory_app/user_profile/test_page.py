"""`/user-profile/`: add, edit in place, remove with one undo."""

from datetime import timedelta

import pytest

from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import set_entry
from minara_site.access.models import AccessEntry
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def console(client, ana):
    client.force_login(ana)
    return client


@pytest.fixture
def entry(ana, now):
    return set_entry(owner=ana, key="risk", value="conservative", actor="test", now=now).entry


def values():
    return dict(UserProfileEntry.objects.values_list("key", "value"))


def text(answer):
    return answer.content.decode()


def test_the_empty_list_says_what_belongs_here(console):
    assert "risk_tolerance: conservative" in text(console.get("/user-profile/"))


def test_adds(console):
    answer = console.post("/user-profile/add/", {"key": "chains", "value": "base & arbitrum"})
    assert (answer.status_code, answer["Location"]) == (303, "/user-profile/")
    assert values() == {"chains": "base & arbitrum"}
    page = text(console.get("/user-profile/"))
    assert "base &amp; arbitrum" in page
    assert "Added. It is read from the next session on." in page


@table("fields", [{"key": "a b", "value": "x"}, {"key": "a", "value": ""}, {}, {"key": "risk", "value": "bold"}])
def test_refuses_beside_the_field_and_keeps_what_was_typed(console, entry, fields):
    answer = console.post("/user-profile/add/", fields)
    assert answer.status_code == 422
    assert 'role="alert"' in text(answer)
    assert values() == {"risk": "conservative"}
    if fields:
        assert f'value="{fields["key"]}"' in text(answer)


def test_edits_in_the_row(console, entry):
    form = text(console.get("/user-profile/risk/edit/", headers=HTMX))
    assert form.lstrip().startswith("<tr")
    answer = console.post(
        "/user-profile/risk/edit/", {"value": "balanced", "updated_at": entry.updated_at.isoformat()}, headers=HTMX
    )
    assert answer.status_code == 200
    assert "balanced" in text(answer)
    assert values() == {"risk": "balanced"}


def test_edits_without_javascript(console, entry):
    assert "<h1" in text(console.get("/user-profile/risk/edit/"))
    answer = console.post("/user-profile/risk/edit/", {"value": "bold", "updated_at": entry.updated_at.isoformat()})
    assert answer.status_code == 303
    assert values() == {"risk": "bold"}


@table("stale", [{"updated_at": "2020-01-01T00:00:00+00:00"}, {"updated_at": "x"}, {}])
def test_a_stale_edit_shows_both_and_overwrites_nothing(console, entry, stale):
    answer = console.post("/user-profile/risk/edit/", {"value": "bold", **stale})
    assert answer.status_code == 409
    assert "It changed meanwhile" in text(answer)
    assert "conservative" in text(answer)
    assert 'value="bold"' in text(answer)
    assert values() == {"risk": "conservative"}


def test_an_invalid_edit_is_422(console, entry):
    answer = console.post("/user-profile/risk/edit/", {"value": "a\u2028b", "updated_at": entry.updated_at.isoformat()})
    assert answer.status_code == 422
    assert values() == {"risk": "conservative"}


def test_removes_and_brings_back_once(console, entry):
    answer = console.post("/user-profile/risk/remove/", headers=HTMX)
    assert answer.status_code == 200
    assert "/user-profile/undo/" in text(answer)
    assert values() == {}
    assert console.post("/user-profile/undo/").status_code == 303
    assert values() == {"risk": "conservative"}
    assert console.post("/user-profile/undo/").status_code == 404


def test_an_undo_does_not_overwrite_what_was_added_since(console, entry):
    console.post("/user-profile/risk/remove/")
    console.post("/user-profile/add/", {"key": "risk", "value": "bold"})
    assert console.post("/user-profile/undo/").status_code == 409
    assert values() == {"risk": "bold"}


def test_searches_and_sorts(console, entry, ana, now):
    set_entry(owner=ana, key="chains", value="base", actor="test", now=now + timedelta(hours=1))
    assert "conservative" not in text(console.get("/user-profile/?q=chain"))
    page = text(console.get("/user-profile/?sort=newest"))
    assert page.index("chains") < page.index("conservative")


def test_a_foreign_entry_is_like_none(client, ben, entry):
    client.force_login(ben)
    assert "Nothing here yet" in text(client.get("/user-profile/"))
    for path in ("/user-profile/risk/edit/", "/user-profile/risk/remove/"):
        assert client.post(path, {"value": "bold"}).status_code == 404
    assert client.get("/user-profile/?owner=ana").status_code == 404
    assert values() == {"risk": "conservative"}


def test_an_operator_reads_but_does_not_edit_and_leaves_a_trace(client, olga, ana, entry):
    client.force_login(olga)
    page = text(client.get("/user-profile/?owner=ana"))
    assert "conservative" in page
    assert "/user-profile/risk/edit/" not in page
    assert "Add an entry" not in page
    assert client.post("/user-profile/risk/remove/").status_code == 404
    assert list(AccessEntry.objects.values_list("viewer", "owner", "kind")) == [(olga.pk, ana.pk, "user_profile")]


def test_support_and_strangers_see_nothing(client, sam):
    assert client.get("/user-profile/").status_code == 302
    client.force_login(sam)
    assert client.get("/user-profile/").status_code == 403
    assert client.post("/user-profile/add/", {"key": "a", "value": "b"}).status_code == 403
