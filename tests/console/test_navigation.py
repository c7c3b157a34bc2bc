"""Where pages belong in the side bar, and how many rows wait behind its entries and tabs."""

import re
from typing import Any

import pytest
from django.test import Client

from minara_site.kernel.guard.models import Hold
from profile_app.documents.core import DocumentKind
from tests.console.quarantine.test_pages import hold_text
from tests.kit.tables import table
from tests.learning_app.rows import make_preference
from tests.memory_app.facts.factories import make_conflict
from tests.memory_app.roles.rows import make_thesis

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]


def badges_of(page: str) -> dict[str, str]:
    """Return what waits by the label of each entry and tab of a page, an entry's in capitals."""
    side, tabs = (
        page.split(begin)[1].split("</nav>", maxsplit=1)[0]
        for begin in ('<nav class="nav"', '<nav class="tabs page-tabs"')
    )
    badge = re.compile(r'>([A-Z][a-z ]+[a-z]) ?<span class="count-due">([0-9+]+)')
    return {label.upper(): number for label, number in badge.findall(side)} | dict(badge.findall(tabs))


def place_of(page: str) -> list[str]:
    """Return the entry and the tab that a page is shown under."""
    side, tabs = (
        page.split(begin)[1].split("</nav>", maxsplit=1)[0]
        for begin in ('<nav class="nav"', '<nav class="tabs page-tabs"')
    )
    return [re.search(r'aria-current="\w+"[^>]*>(?:<svg.*?</svg>)?([\w ]+)', nav)[1] for nav in (side, tabs)]


@pytest.mark.database
def test_review_counts_each_waiting_item_once_and_each_tab_its_own(
    operator_page: Client,
    page: Client,
    ana: Any,
) -> None:
    hold_text(ana)
    Hold.objects.filter(pk=hold_text(ana, "mine to let in\u200b").pk).update(kind=DocumentKind.CUSTOM_PROMPT)
    for _n in range(2):
        make_preference(ana, state="proposed")
    make_conflict(ana)
    for _n in range(3):
        make_thesis(ana, hours=24 * 365)
    assert badges_of(operator_page.get("/facts/conflicts/").content.decode()) == {
        "REVIEW": "8",
        "Queue": "3",
        "Held texts": "2",
        "Conflicts": "1",
        "Outcomes to mark": "3",
    }
    assert badges_of(page.get("/memories/").content.decode()) == {"MEMORIES": "2", "Held texts": "2"}


@table(
    ("path", "place"),
    [
        ("/facts/conflicts/", ["Review", "Conflicts"]),
        ("/facts/conflicts/?owner=all", ["Review", "Conflicts"]),
        ("/facts/conflicts/?owner=ana", ["Memories", "Facts"]),
        ("/role-memory/outcomes/?owner=olga", ["Learning", "Decisions"]),
        ("/role-memory/outcomes/", ["Review", "Outcomes to mark"]),
        ("/memories/held/?owner=ana", ["Memories", "Memories"]),
    ],
)
def test_what_waits_of_all_owners_is_in_review_and_what_one_has_beside_their_other_rows(
    operator_page: Client,
    ana: Any,
    path: str,
    place: list[str],
) -> None:
    assert place_of(operator_page.get(path).content.decode()) == place


def test_lists_of_one_owner_lead_to_what_waits_of_that_owner(operator_page: Client, page: Client, ana: Any) -> None:
    for path, to in (("/facts/", "/facts/conflicts/"), ("/role-memory/", "/role-memory/outcomes/")):
        for query, named in (("", "?owner=olga"), ("?owner=ana", "?owner=ana"), ("?owner=all", "?owner=all")):
            assert f'href="{to}{named}"' in operator_page.get(path + query).content.decode(), (path, query)
        assert f'href="{to}"' in page.get(path).content.decode()
