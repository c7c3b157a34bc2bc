"""`/ops/prices/`: what is in doubt with the price before, confirmed and doubted again, and the newest of each symbol."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from minara_site.console.prices import views
from minara_site.kernel.market.models import PriceBar, PricePoint
from tests.kernel.market.rows import T0, bar, put_bars, put_points
from tests.kit.clock import NOON
from tests.kit.page import toasts_of, undo_of, words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]
PAGE = "/ops/prices/"


def table_of(response: object, heading: str) -> list[str]:
    """Return the rows below a heading, as words."""
    section = response.content.decode().split(f'id="{heading}"')[1].split("</section>")[0]  # type: ignore[attr-defined]
    rows = re.findall(r"<tr>(.*?)</tr>", section.partition("<tbody>")[2], re.DOTALL)
    return [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in rows]


def test_nothing_yet_and_none_in_doubt(operator_page: Client) -> None:
    shown = words_of(operator_page.get(PAGE))
    assert "No prices yet" in shown
    put_points((0, "0.00000012"), (0.5, "61250.5"), symbol="ETH", now=NOON)
    PricePoint.objects.update(doubted_at=None)
    response = operator_page.get(PAGE)
    assert "No price is in doubt" in words_of(response)
    assert table_of(response, "h-newest") == ["ETH 61250.5 posted 11 d ago"]


@pytest.mark.database
def test_shows_what_is_in_doubt_and_confirms_it(operator_page: Client) -> None:
    put_points((0, "0.00000012"), now=NOON)
    put_bars(bar(-0.5, "61250.5"), now=NOON)
    row = PriceBar.objects.get()
    first = operator_page.get(PAGE)
    assert table_of(first, "h-doubted") == ["BTC 61250.5 0.00000012 test 1 Jun 2026 00:30 Confirm"]
    assert f'action="/ops/prices/3600/{row.pk}/confirm/"' in first.content.decode()
    assert table_of(first, "h-newest") == ["BTC 0.00000012 posted 11 d ago"]
    done = operator_page.post(f"/ops/prices/3600/{row.pk}/confirm/", follow=True)
    assert toasts_of(done) == ["Confirmed the price."]
    assert table_of(done, "h-newest") == ["BTC 61250.5 test 11 d ago"]
    assert table_of(done, "h-confirmed") == ["BTC 61250.5 0.00000012 test 1 Jun 2026 00:30 Doubt again"]
    undone = operator_page.post(undo_of(done), follow=True)
    assert toasts_of(undone) == ["The price is in doubt again."]
    assert "Doubt again" not in words_of(undone)
    assert operator_page.post(undo_of(done)).status_code == 409


@pytest.mark.database
def test_of_many_the_newest_are_shown_in_few_queries(operator_page: Client) -> None:
    put_points(*((n / 100, "9000" if n % 2 else "100") for n in range(200)), now=NOON)
    with CaptureQueriesContext(connection) as queries:
        response = operator_page.get(PAGE)
    shown = table_of(response, "h-doubted")
    assert (len(shown), len(queries) <= 20) == (views.MAX_DOUBTED, True)
    assert "The newest 50 of 100" in words_of(response)
    newest = T0 + timedelta(hours=1.99)
    assert f"{newest:%H:%M}" in shown[0]
