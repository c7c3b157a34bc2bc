"""Lists of owned rows: what a spec and a row template give without a further line."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory_app.user_profile.models import UserProfileEntry
from minara_site.access.models import AccessEntry
from tests.kit.clock import NOON
from tests.kit.page import words_of

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def toys(settings):
    """Mount the toy list."""
    engine = settings.TEMPLATES[0]
    settings.TEMPLATES = [{**engine, "DIRS": [*engine["DIRS"], HERE / "templates"]}]
    settings.ROOT_URLCONF = "tests.shell.toy_list"


def make(owner, *values):
    rows = [UserProfileEntry(owner=owner, key=f"k{n}", value=value, updated_at=NOON) for n, value in enumerate(values)]
    UserProfileEntry.objects.bulk_create(rows)


def test_a_new_list_page_takes_at_most_80_lines():
    files = (HERE / "toy_list.py", HERE / "templates/toy/_row.html")
    assert sum(len(path.read_text().splitlines()) for path in files) <= 80


@pytest.mark.django_db
def test_lists_ones_own_rows_with_counted_tabs_search_and_an_empty_state(page, ana, ben):
    assert "No toys" in words_of(page.get("/toys/"))
    make(ana, "terse", "a value of more than twenty letters")
    make(ben, "not yours")
    shown = words_of(page.get("/toys/"))
    assert "terse" in shown
    assert "All 2" in shown
    assert "Long 1" in shown
    assert "not yours" not in shown
    assert "terse" not in words_of(page.get("/toys/?state=long"))
    assert "Nothing matches" in words_of(page.get("/toys/?q=xyz"))
    assert page.get(f"/toys/?owner={ben.username}").status_code == 404
    assert not AccessEntry.objects.exists()


@pytest.mark.django_db
def test_lets_an_operator_choose_the_owner_logs_it_and_asks_few_queries(operator_page, ana, ben, olga):
    make(ana, "hers")
    make(ben, *(f"his {n}" for n in range(20)))
    with CaptureQueriesContext(connection) as asked:
        shown = words_of(operator_page.get(f"/toys/?owner={ana.username}"))
    assert "Toys of ana" in shown
    assert "hers" in shown
    assert "his 1" not in shown
    assert set(AccessEntry.objects.values_list("owner", "viewer", "kind")) == {(ana.pk, olga.pk, "user_profile")}
    assert len(asked) <= 20
    everyone = words_of(operator_page.get("/toys/?owner=all"))
    assert "hers" in everyone
    assert "his 19" in everyone
