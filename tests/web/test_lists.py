"""What a list does with a URL: filters, notices, chips, cursors, counts, empty states, bulk choice."""

import re
from typing import Any

import pytest
from django.test import Client

from minara_site.access.models import AccessEntry
from tests.kit.page import text_of
from tests.kit.tables import table
from tests.web.conftest import make_entries
from tests.web.site import ENTRIES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("test_site")]
HTMX = {"HX-Request": "true"}


class TestFilters:
    @pytest.mark.database
    def test_keeps_what_the_search_asks_for(self, page: Client, ana: Any) -> None:
        make_entries(ana, 5)
        shown = page.get("/memories/?q=row 3").context["page"]
        assert [row.object_id for row in shown.rows] == ["row 3"]

    def test_takes_a_typed_value_through_the_filter_form(self, page: Client, ana: Any) -> None:
        make_entries(ana, 5)
        response = page.get("/memories/", {"object": "row 3"})
        assert [row.object_id for row in response.context["page"].rows] == ["row 3"]
        assert [(chip.label, chip.value) for chip in response.context["page"].chips] == [("Object", "row 3")]
        assert 'type="text" id="entries-object" name="object" value="row 3"' in text_of(response)

    def test_shows_a_chip_with_a_link_that_removes_only_it(self, page: Client, ana: Any) -> None:
        shown = page.get("/memories/?kind=lesson&kind=alert&after=2026-06-08&sort=oldest").context["page"]
        assert [(chip.label, chip.value) for chip in shown.chips] == [
            ("Kind", "lesson"),
            ("Kind", "alert"),
            ("Changed after", "8 Jun 2026"),
        ]
        assert shown.chips[0].without == "/memories/?kind=alert&after=2026-06-08&sort=oldest"
        assert shown.chips[2].without == "/memories/?kind=lesson&kind=alert&sort=oldest"

    @pytest.mark.database
    def test_begins_a_day_in_the_readers_zone(self, page: Client, ana: Any) -> None:
        ana.time_zone = "Asia/Shanghai"
        ana.save()
        make_entries(ana, 1)
        row = AccessEntry.objects.get()
        row.at = row.at.replace(hour=16, minute=0)  # midnight of the 13th in Shanghai
        row.save()
        assert len(page.get("/memories/?after=2026-06-13").context["page"].rows) == 1
        assert len(page.get("/memories/?after=2026-06-14").context["page"].rows) == 0

    @pytest.mark.database
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
    def test_ignores_what_it_does_not_know_with_a_notice(self, page: Client, ana: Any, query: str) -> None:
        make_entries(ana, 2)
        response = page.get(f"/memories/?{query}")
        assert len(response.context["page"].rows) == 2
        assert len(response.context["page"].notices) == 1
        assert "<script>" not in text_of(response)
        assert page.get("/memories/?q=&state=all&kind=&sort=newest").context["page"].notices == ()


class TestPages:
    def test_load_more_is_a_link_and_answers_rows_to_htmx(self, page: Client, ana: Any) -> None:
        make_entries(ana, 15)
        first = page.get("/memories/?state=all")
        url = first.context["page"].next_url
        assert f'href="{url.replace("&", "&amp;")}"' in text_of(first)
        html = text_of(page.get(url, headers=HTMX))
        assert html.count("<tr ") == 3
        assert "<html" not in html
        assert 'id="entries-pager" hx-swap-oob="true"' in html
        assert 'role="status" hx-swap-oob="true"' in html
        assert '<span data-shown>15</span> of <span id="entries-total">15</span>' in html
        whole = text_of(page.get(url))  # without script
        assert "13 to 15 of 15" in whole
        assert "Back to the beginning" in whole

    def test_counts_in_words_above_the_bound(self, page: Client, ana: Any) -> None:
        make_entries(ana, 10_001)
        html = text_of(page.get("/memories/"))
        assert '<span data-shown>12</span> of <span id="entries-total">more than 10,000</span>' in html

    def test_begins_again_after_a_tampered_cursor(self, page: Client, ana: Any) -> None:
        make_entries(ana, 15)
        url = page.get("/memories/").context["page"].next_url
        response = page.get(url[:-3] + "xyz", headers=HTMX)
        assert "no longer valid" in text_of(response)
        assert (response["HX-Retarget"], response["HX-Reswap"]) == ("#entries", "outerHTML")
        assert response.context["page"].shown == 12

    def test_a_filter_asks_htmx_for_the_list_alone_and_a_restored_page_is_whole(self, page: Client) -> None:
        html = text_of(page.get("/memories/?q=x", headers=HTMX))
        assert html.strip().startswith('<div class="listing" id="entries"')
        assert "<html" in text_of(page.get("/memories/", headers={**HTMX, "HX-History-Restore-Request": "true"}))

    def test_sorts_by_the_head_and_turns_round(self, page: Client, ana: Any) -> None:
        make_entries(ana, 3)
        shown = page.get("/memories/?sort=oldest&q=row").context["page"]
        assert [row.object_id for row in shown.rows] == ["row 0", "row 1", "row 2"]
        assert (shown.heads[-1].direction, shown.heads[-1].url) == ("ascending", "/memories/?q=row&sort=newest")

    @table("count", [0, 1, 12, 13, 40])
    def test_takes_the_same_few_queries_at_any_length(
        self,
        page: Client,
        ana: Any,
        count: int,
        django_assert_max_num_queries: Any,
    ) -> None:
        make_entries(ana, count)
        page.get("/memories/")
        with django_assert_max_num_queries(5):  # session, user, rows, count, what is held
            page.get("/memories/")


class TestEmptyStates:
    def test_says_that_there_is_nothing_yet_and_what_to_do(self, page: Client) -> None:
        html = text_of(page.get("/memories/"))
        assert "Nothing yet" in html
        assert 'href="/form/"' in html

    def test_says_that_nothing_matches_and_offers_to_clear(self, page: Client, ana: Any) -> None:
        make_entries(ana, 1)
        html = text_of(page.get("/memories/?q=zzz&kind=alert&sort=oldest"))
        assert "Nothing matches" in html
        assert 'href="/memories/?sort=oldest"' in html

    def test_says_that_the_list_ended(self, page: Client, ana: Any) -> None:
        make_entries(ana, 13)
        url = page.get("/memories/").context["page"].next_url
        AccessEntry.objects.all().delete()
        assert "The list ends here" in text_of(page.get(url))


class TestBulk:
    def test_acts_on_the_checked_rows(self, page: Client, ana: Any) -> None:
        rows = make_entries(ana, 3)
        response = page.post("/memories/bulk/", {"action": "delete", "ids": [rows[0].pk, rows[2].pk]})
        assert (response.status_code, response["Location"]) == (303, "/memories/")
        assert [row.pk for row in AccessEntry.objects.all()] == [rows[1].pk]

    @pytest.mark.database
    def test_acts_on_everything_that_the_filter_matched(self, page: Client, ana: Any, ben: Any) -> None:
        make_entries(ana, 15)
        make_entries(ben, 1, start=1)
        page.post("/memories/bulk/", {"action": "delete", "all": "1", "filter": "q=row 1"})
        assert {row.object_id for row in AccessEntry.objects.filter(owner=ana)} == {
            f"row {n}" for n in (0, *range(2, 10))
        }
        assert AccessEntry.objects.filter(owner=ben).count() == 1

    @table(("count", "chosen"), [(1, "q=zzz"), (5_001, "")])
    def test_refuses_a_filter_that_keeps_nothing_or_too_much(
        self,
        page: Client,
        ana: Any,
        count: int,
        chosen: str,
    ) -> None:
        make_entries(ana, count)
        text_of(page.post("/memories/bulk/", {"action": "delete", "all": "1", "filter": chosen}), 422)
        assert AccessEntry.objects.count() == count

    def test_returns_only_to_a_page_of_this_console(self, page: Client, ana: Any) -> None:
        for foreign in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "evil"):
            rows = make_entries(ana, 1)
            response = page.post("/memories/bulk/", {"action": "delete", "ids": rows[0].pk, "next": foreign})
            assert response["Location"] == "/memories/"


class TestRow:
    def test_a_post_from_a_row_answers_what_changed(self, page: Client, ana: Any) -> None:
        rows = make_entries(ana, 3)
        seen = {**HTMX, "HX-Current-URL": "http://testserver/memories/?q=row"}
        html = text_of(page.post(f"/memories/{rows[0].pk}/delete/", headers=seen))
        assert "<tr" not in html
        assert '<span id="entries-total" hx-swap-oob="true">2</span>' in html
        assert 'hx-swap-oob="beforeend"' in html
        assert 'action="/memories/undo/"' in html
        assert 'name="next" value="/memories/?q=row"' in html

    def test_a_post_from_a_row_counts_the_tabs_again(self, page: Client, ana: Any) -> None:
        rows = make_entries(ana, 1)
        assert '<nav class="seg" id="entries-tabs" aria-label="State">' in text_of(page.get("/memories/"))
        seen = {**HTMX, "HX-Current-URL": "http://testserver/memories/?q=row&state=live"}
        html = text_of(page.post(f"/memories/{rows[0].pk}/delete/", headers=seen))
        assert '<nav class="seg" id="entries-tabs" hx-swap-oob="true" aria-label="State">' in html
        tab = '<a href="/memories/?q=row&amp;state=live" hx-get="/memories/?q=row&amp;state=live"'
        assert re.search(rf'{re.escape(tab)}[^>]* aria-current="true">Active <span class="n">7</span></a>', html)

    def test_without_script_it_redirects_to_a_page_with_the_toast(self, page: Client, ana: Any) -> None:
        rows = make_entries(ana, 2)
        response = page.post(f"/memories/{rows[0].pk}/delete/", {"next": "/memories/?q=row"}, follow=True)
        assert response.redirect_chain == [("/memories/?q=row", 303)]
        assert "It can be restored for 30 days." in text_of(response)

    def test_a_wrong_edit_answers_422_with_the_row_form(self, page: Client, ana: Any) -> None:
        rows = make_entries(ana, 1)
        html = text_of(page.post(f"/memories/{rows[0].pk}/edit/", {"statement": "x" * 41}, headers=HTMX), 422)
        assert html.strip().startswith("<tr")
        assert 'aria-invalid="true"' in html

    def test_spec_knows_its_width(self) -> None:
        assert ENTRIES.width == 7
