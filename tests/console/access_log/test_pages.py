"""Who looked at whose data: everything for operators, their own lines for owners."""

from datetime import timedelta

import pytest

from minara_site.access.models import AccessEntry
from tests.kit.fixtures import make_user
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
LIST, OWN = "/ops/access-log/", "/privacy/looks/"


@pytest.fixture
def looks(olga, ana, ben, now):
    """Olga and Oscar look at things of Ana and Ben, one a day, oldest first."""
    oscar = make_user("oscar", group="operators")
    made = [
        (olga, ana, "memory", "7"),
        (olga, ben, "prompt", ""),
        (oscar, ana, "account", "1"),
        (olga, ana, "new", ""),
    ]
    for days, (viewer, owner, kind, object_id) in enumerate(made):
        at = now + timedelta(days=days)
        AccessEntry.objects.create(at=at, viewer=viewer, owner=owner, kind=kind, object_id=object_id)


def seen_on(response):
    return [
        (
            look.viewer.username,
            look.owner.username,
            str(look.subject),
        )
        for look in response.context["page"].rows
    ]


@pytest.mark.database
@table(
    ("query", "days"),
    [
        ("", [3, 2, 1, 0]),
        ("?sort=oldest", [0, 1, 2, 3]),
        ("?viewer=oscar", [2]),
        ("?owner=ana&viewer=olga", [3, 0]),
        ("?viewer=nobody", []),
        ("?kind=memory&kind=prompt", [1, 0]),
        ("?after=2026-06-13&before=2026-06-15", [2, 1]),
    ],
)
def test_finds_what_is_asked_for(operator_page, looks, now, query, days):
    page = operator_page.get(LIST + query).context["page"]
    assert [(look.at - now).days for look in page.rows] == days
    assert page.notices == ()


def test_an_owner_reads_their_own_lines_and_no_others(page, looks):
    response = page.get(OWN)
    assert seen_on(response) == [
        ("olga", "ana", "new"),
        ("oscar", "ana", "the account: sign-ins and keys"),
        ("olga", "ana", "a memory"),
    ]
    shown = response.content.decode()
    assert '<a href="/memories/7/">' in shown
    assert page.get(OWN + "?owner=ben").context["page"].count.number == 3
    assert f'href="{OWN}"' in page.get("/settings/").content.decode()


def test_many_lines_take_few_queries(operator_page, olga, ana, now, django_assert_max_num_queries):
    AccessEntry.objects.bulk_create(AccessEntry(at=now, viewer=olga, owner=ana, kind="memory") for _ in range(60))
    with django_assert_max_num_queries(7):
        assert len(operator_page.get(LIST).context["page"].rows) == 50


def test_says_so_while_there_is_nothing(page):
    assert "No one but you" in page.get(OWN).content.decode()
