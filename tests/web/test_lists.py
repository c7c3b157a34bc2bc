"""What a list does with a URL: filters, notices, chips, cursors, counts, empty states, bulk choice."""

import re
from typing import Any

import pytest
from django.test import Client

from minara_site.access.models import AccessEntry
from tests.kit.shared import corpus
from tests.kit.tables import table
from tests.web.conftest import make_entries
from tests.web.site import ENTRIES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("test_site")]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def browser(client: Client, ana: Any) -> Client:
    client.force_login(ana)
    return client


def text_of(response: Any, status: int = 200) -> str:
    assert response.status_code == status
    return response.content.decode()


class TestFilters:
    def test_keeps_what_the_search_asks_for(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 5)
        page = browser.get("/memories/?q=row 3").context["page"]
        assert [row.object_id for row in page.rows] == ["row 3"]

    def test_takes_a_typed_value_through_the_filter_form(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 5)
        response = browser.get("/memories/", {"object": "row 3"})
        assert [row.object_id for row in response.context["page"].rows] == ["row 3"]
        assert [(chip.label, chip.value) for chip in response.context["page"].chips] == [("Object", "row 3")]
        assert 'type="text" id="entries-object" name="object" value="row 3"' in text_of(response)

    def test_shows_a_chip_with_a_link_that_removes_only_it(self, browser: Client, ana: Any) -> None:
        page = browser.get("/memories/?kind=lesson&kind=alert&after=2026-06-08&sort=oldest").context["page"]
        assert [(chip.label, chip.value) for chip in page.chips] == [
            ("Kind", "lesson"),
            ("Kind", "alert"),
            ("Changed after", "8 Jun 2026"),
        ]
        assert page.chips[0].without == "/memories/?kind=alert&after=2026-06-08&sort=oldest"
        assert page.chips[2].without == "/memories/?kind=lesson&kind=alert&sort=oldest"

    def test_begins_a_day_in_the_readers_zone(self, browser: Client, ana: Any) -> None:
        ana.time_zone = "Asia/Shanghai"
        ana.save()
        make_entries(ana, 1)
        row = AccessEntry.objects.get()
        row.at = row.at.replace(hour=16, minute=0)  # midnight of the 13th in Shanghai
        row.save()
        assert len(browser.get("/memories/?after=2026-06-13").context["page"].rows) == 1
        assert len(browser.get("/memories/?after=2026-06-14").context["page"].rows) == 0

    @table(
        "query",
        [
            "nope=1",
            "kind=nonsense",
            "state=nonsense",
            "after=yesterday",
            "after=2026-13-45",
            "after=0001-01-01",
            "after=9999-12-31",
            "from=1e9",
            "from=99999999999999999999",
            "from=٣",
            "sort=password",
            "q=a%00b",
            f"q={'x' * 513}",
            "object=a%00b",
            "%3Cscript%3E=1",
        ],
    )
    def test_ignores_what_it_does_not_know_with_a_notice(self, browser: Client, ana: Any, query: str) -> None:
        make_entries(ana, 2)
        response = browser.get(f"/memories/?{query}")
        assert len(response.context["page"].rows) == 2
        assert len(response.context["page"].notices) == 1
        assert "<script>" not in text_of(response)

    def test_has_no_notice_without_reason(self, browser: Client) -> None:
        assert browser.get("/memories/?q=&state=all&kind=&sort=newest").context["page"].notices == ()

    def test_never_fails_or_waits_on_hostile_values(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 2)
        for row in corpus("fts5_queries")[::40]:
            for name in ("q", "kind", "state", "after", "from", "sort", "cursor"):
                assert browser.get("/memories/", {name: row["q"]}).status_code == 200


class TestPages:
    def test_load_more_is_a_link_and_answers_rows_to_htmx(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 15)
        first = browser.get("/memories/?state=all")
        url = first.context["page"].next_url
        assert f'href="{url.replace("&", "&amp;")}"' in text_of(first)
        html = text_of(browser.get(url, headers=HTMX))
        assert html.count("<tr ") == 3
        assert "<html" not in html
        assert 'id="entries-pager" hx-swap-oob="true"' in html
        assert 'role="status" hx-swap-oob="true"' in html
        assert '<span data-shown>15</span> of <span id="entries-total">15</span>' in html

    def test_the_same_link_is_a_whole_page_without_script(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 15)
        url = browser.get("/memories/").context["page"].next_url
        html = text_of(browser.get(url))
        assert "13 to 15 of 15" in html
        assert "Back to the beginning" in html

    def test_counts_in_words_above_the_bound(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 10_001)
        html = text_of(browser.get("/memories/"))
        assert '<span data-shown>12</span> of <span id="entries-total">more than 10,000</span>' in html

    def test_begins_again_after_a_tampered_cursor(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 15)
        url = browser.get("/memories/").context["page"].next_url
        response = browser.get(url[:-3] + "xyz", headers=HTMX)
        assert "no longer valid" in text_of(response)
        assert (response["HX-Retarget"], response["HX-Reswap"]) == ("#entries", "outerHTML")
        assert response.context["page"].shown == 12

    def test_a_filter_asks_htmx_for_the_list_alone(self, browser: Client, ana: Any) -> None:
        html = text_of(browser.get("/memories/?q=x", headers=HTMX))
        assert html.strip().startswith('<div class="listing" id="entries"')

    def test_a_restored_page_is_whole(self, browser: Client) -> None:
        html = text_of(browser.get("/memories/", headers={**HTMX, "HX-History-Restore-Request": "true"}))
        assert "<html" in html

    def test_varies_on_who_asks_and_how_and_is_never_stored(self, browser: Client) -> None:
        response = browser.get("/memories/")
        assert {"HX-Request", "Cookie"} <= {name.strip() for name in response["Vary"].split(",")}
        assert response["Cache-Control"] == "no-store"

    def test_sorts_by_the_head_and_turns_round(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 3)
        page = browser.get("/memories/?sort=oldest&q=row").context["page"]
        assert [row.object_id for row in page.rows] == ["row 0", "row 1", "row 2"]
        assert (page.heads[-1].direction, page.heads[-1].url) == ("ascending", "/memories/?q=row&sort=newest")

    @table("count", [0, 1, 12, 13, 40])
    def test_takes_the_same_few_queries_at_any_length(
        self, browser: Client, ana: Any, count: int, django_assert_max_num_queries: Any
    ) -> None:
        make_entries(ana, count)
        browser.get("/memories/")
        with django_assert_max_num_queries(5):  # session, user, rows, count, what is held
            browser.get("/memories/")


class TestEmptyStates:
    def test_says_that_there_is_nothing_yet_and_what_to_do(self, browser: Client) -> None:
        html = text_of(browser.get("/memories/"))
        assert "Nothing yet" in html
        assert 'href="/form/"' in html

    def test_says_that_nothing_matches_and_offers_to_clear(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 1)
        html = text_of(browser.get("/memories/?q=zzz&kind=alert&sort=oldest"))
        assert "Nothing matches" in html
        assert 'href="/memories/?sort=oldest"' in html

    def test_says_that_the_list_ended(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 13)
        url = browser.get("/memories/").context["page"].next_url
        AccessEntry.objects.all().delete()
        assert "The list ends here" in text_of(browser.get(url))


class TestBulk:
    def test_acts_on_the_checked_rows(self, browser: Client, ana: Any) -> None:
        rows = make_entries(ana, 3)
        response = browser.post("/memories/bulk/", {"action": "delete", "ids": [rows[0].pk, rows[2].pk]})
        assert (response.status_code, response["Location"]) == (303, "/memories/")
        assert [row.pk for row in AccessEntry.objects.all()] == [rows[1].pk]

    def test_acts_on_everything_that_the_filter_matched(self, browser: Client, ana: Any, ben: Any) -> None:
        make_entries(ana, 15)
        make_entries(ben, 1, start=1)
        browser.post("/memories/bulk/", {"action": "delete", "all": "1", "filter": "q=row 1"})
        assert {row.object_id for row in AccessEntry.objects.filter(owner=ana)} == {
            f"row {n}" for n in (0, *range(2, 10))
        }
        assert AccessEntry.objects.filter(owner=ben).count() == 1

    def test_refuses_a_filter_that_keeps_nothing(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 1)
        text_of(browser.post("/memories/bulk/", {"action": "delete", "all": "1", "filter": "q=zzz"}), 422)
        assert AccessEntry.objects.count() == 1

    def test_refuses_more_than_it_can_do_at_once(self, browser: Client, ana: Any) -> None:
        make_entries(ana, 5_001)
        text_of(browser.post("/memories/bulk/", {"action": "delete", "all": "1", "filter": ""}), 422)
        assert AccessEntry.objects.count() == 5_001

    def test_returns_only_to_a_page_of_this_console(self, browser: Client, ana: Any) -> None:
        for foreign in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "evil"):
            rows = make_entries(ana, 1)
            response = browser.post("/memories/bulk/", {"action": "delete", "ids": rows[0].pk, "next": foreign})
            assert response["Location"] == "/memories/"


class TestRow:
    def test_a_post_from_a_row_answers_what_changed(self, browser: Client, ana: Any) -> None:
        rows = make_entries(ana, 3)
        seen = {**HTMX, "HX-Current-URL": "http://testserver/memories/?q=row"}
        html = text_of(browser.post(f"/memories/{rows[0].pk}/delete/", headers=seen))
        assert "<tr" not in html
        assert '<span id="entries-total" hx-swap-oob="true">2</span>' in html
        assert 'hx-swap-oob="beforeend"' in html
        assert 'action="/memories/undo/"' in html
        assert 'name="next" value="/memories/?q=row"' in html

    def test_a_post_from_a_row_counts_the_tabs_again(self, browser: Client, ana: Any) -> None:
        rows = make_entries(ana, 1)
        assert '<nav class="seg" id="entries-tabs" aria-label="State">' in text_of(browser.get("/memories/"))
        seen = {**HTMX, "HX-Current-URL": "http://testserver/memories/?q=row&state=live"}
        html = text_of(browser.post(f"/memories/{rows[0].pk}/delete/", headers=seen))
        assert '<nav class="seg" id="entries-tabs" hx-swap-oob="true" aria-label="State">' in html
        tab = '<a href="/memories/?q=row&amp;state=live" hx-get="/memories/?q=row&amp;state=live"'
        assert re.search(rf'{re.escape(tab)}[^>]* aria-current="true">Active <span class="n">7</span></a>', html)

    def test_without_script_it_redirects_to_a_page_with_the_toast(self, browser: Client, ana: Any) -> None:
        rows = make_entries(ana, 2)
        response = browser.post(f"/memories/{rows[0].pk}/delete/", {"next": "/memories/?q=row"}, follow=True)
        assert response.redirect_chain == [("/memories/?q=row", 303)]
        assert "It can be restored for 30 days." in text_of(response)

    def test_a_wrong_edit_answers_422_with_the_row_form(self, browser: Client, ana: Any) -> None:
        rows = make_entries(ana, 1)
        html = text_of(browser.post(f"/memories/{rows[0].pk}/edit/", {"statement": "x" * 41}, headers=HTMX), 422)
        assert html.strip().startswith("<tr")
        assert 'aria-invalid="true"' in html

    def test_spec_knows_its_width(self) -> None:
        assert ENTRIES.width == 7
