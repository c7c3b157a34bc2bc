"""The parts in a real browser, on the site that only tests mount."""

import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from minara_site.access.models import AccessEntry
from tests.kit.chromium import NARROW, Judge, Visit
from tests.kit.clock import NOON
from tests.kit.shared import corpus

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("test_site"),
]
TEXTS = [
    "Always set slippage to 0.5% on Base and Arbitrum swaps",
    "山寨币单笔仓位不超过总资金的 3%，止损必须随开仓一起下单",
]
LIST = "/memories/"


@pytest.fixture
def entries(ana: Any) -> list[AccessEntry]:
    return AccessEntry.objects.bulk_create(
        AccessEntry(
            at=NOON + timedelta(minutes=n),
            viewer=ana,
            owner=ana,
            kind="lesson",
            object_id=TEXTS[n % 2],
        )
        for n in range(30)
    )


@pytest.fixture
def page(visit: Visit, ana: Any, entries: Any) -> Page:
    return visit(ana).open(LIST)


def rows(page: Page) -> Any:
    return page.locator("#entries-rows > tr")


class TestLook:
    def test_every_part_is_whole(self, visit: Visit, judge: Judge, ana: Any, entries: Any) -> None:
        paths = {
            "parts: a list": LIST,
            "parts: a list where nothing matches": f"{LIST}?kind=lesson&nope=1&q=zzz",
            "parts: charts": "/detail/",
            "parts: a form": "/form/",
        }
        judge.open_all(visit(ana), paths)

    def test_so_is_what_opens(self, judge_open: Judge, page: Page) -> None:
        box = page.locator(".menu-btn + .crumbs, .nav .i").first
        assert (
            box.evaluate("e => e.querySelector('use').getBoundingClientRect().width") > 5
        )  # icons come from the sprite
        page.locator(".drop-form > summary").click()
        judge_open(page, "parts: the form of filters")
        page.keyboard.press("Escape")
        page.locator(".row-menu > summary").last.click()
        page.locator(".row-menu[open] button").click(trial=True)
        judge_open(page, "parts: the menu of the last row")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        judge_open(page, "parts: the keys")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).not_to_be_visible()

    def test_a_page_that_is_missing_is_whole_too(self, visit: Visit, judge_open: Judge, ana: Any) -> None:
        judge_open(visit(ana).open("/fail/http404/"), "parts: a page that is missing")


class TestList:
    def test_loads_more_below_and_keeps_the_focus(self, page: Page) -> None:
        page.get_by_text("Load more").focus()
        page.keyboard.press("Enter")
        expect(rows(page)).to_have_count(24)
        expect(page.locator("#entries-pager")).to_contain_text("24 of 30")
        expect(page.locator("#entries-status")).to_contain_text("24 shown")
        expect(page.locator("#entries-more")).to_be_focused()
        page.keyboard.press("Enter")
        expect(rows(page)).to_have_count(30)
        expect(page.locator("#entries-more")).to_have_count(0)

    def test_filters_without_reload_goes_back_and_removes_a_chip(self, page: Page) -> None:
        page.evaluate("window.stays = true")
        page.get_by_label("Search entries").fill("slippage")
        page.keyboard.press("Enter")
        expect(page.locator("#entries-pager")).to_contain_text("12 of 15")
        expect(page.get_by_label("Search entries")).to_be_focused()
        assert "q=slippage" in page.url
        assert page.evaluate("window.stays") is True
        page.go_back()
        expect(page.locator("#entries-pager")).to_contain_text("12 of 30")
        expect(page.locator("html")).to_have_count(1)
        expect(page.locator("main")).to_have_count(1)
        page.locator(".drop-form > summary").click()
        page.get_by_label("Kind").select_option("alert")
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_text("Nothing matches")).to_be_visible()
        page.get_by_label("Remove filter: Kind alert").click()
        expect(rows(page)).to_have_count(12)

    def test_chooses_rows_and_acts_on_them_once(self, judge_open: Judge, page: Page) -> None:
        expect(page.locator(".bulk")).not_to_be_visible()
        page.locator("tbody input[name=ids]").nth(1).check()
        page.locator("tbody input[name=ids]").nth(2).check()
        expect(page.locator(".bulk")).to_contain_text("2 selected")
        judge_open(page, "parts: chosen rows")
        page.locator(".bulk").get_by_role("button", name="Delete").dblclick(no_wait_after=True)
        expect(page.locator("#toasts")).to_contain_text("Deleted 2 memories.")
        assert AccessEntry.objects.count() == 28
        page.get_by_label("Select all on this page").check()
        expect(page.locator(".bulk")).to_contain_text("12 selected")
        page.get_by_label("all 28 that match").check()
        page.locator(".bulk").get_by_role("button", name="Delete").click()
        expect(page.locator("#toasts")).to_contain_text("Deleted 28 memories.")

    def test_everything_works_without_script(self, visit: Visit, ana: Any, entries: Any) -> None:
        page = visit(ana, width=NARROW, scripts=False).open(LIST)
        expect(page.locator("#nav")).not_to_be_visible()
        page.get_by_label("Open menu").click()
        expect(page.locator("#nav")).to_be_visible()
        page.get_by_label("Close menu").click()
        expect(page.locator("#nav")).not_to_be_visible()
        page.get_by_text("Load more").click()
        expect(page.locator("#entries-pager")).to_contain_text("13 to 24 of 30")
        page.locator("tbody input[name=ids]").first.check()
        page.locator(".bulk").get_by_role("button", name="Delete").click()
        expect(page.locator("#toasts")).to_contain_text("Deleted 1 memories.")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#toasts")).to_contain_text("Restored.")
        page.locator(".row-menu > summary").first.click()
        page.get_by_role("link", name="Edit").first.click()
        page.get_by_label("Statement").fill("Trail by 8%")
        page.get_by_role("button", name="Save").click()
        expect(rows(page).first).to_contain_text("Trail by 8%")


class TestKeys:
    def test_move_choose_delete_and_undo(self, page: Page) -> None:
        page.keyboard.press("j")
        page.keyboard.press("j")
        expect(rows(page).nth(1)).to_have_class(re.compile("cursor"))
        page.keyboard.press("x")
        expect(page.locator(".bulk")).to_contain_text("1 selected")
        page.keyboard.press("Escape")
        expect(page.locator(".bulk")).not_to_be_visible()
        page.keyboard.press("e")
        expect(rows(page)).to_have_count(11)
        expect(page.locator("#entries-pager")).to_contain_text("11 of 29")
        expect(rows(page).nth(1).locator("[data-edit], [data-open]").first).to_be_focused()
        page.keyboard.press("u")
        expect(page.locator("#toasts")).to_contain_text("Restored.")

    def test_open_pages_and_the_search_box(self, page: Page) -> None:
        page.keyboard.press("/")
        expect(page.get_by_label("Search entries")).to_be_focused()
        page.keyboard.type("jjx")
        expect(page.get_by_label("Search entries")).to_have_value("jjx")
        expect(page.locator("tr.cursor")).to_have_count(0)
        page.get_by_label("Search entries").blur()
        page.keyboard.press("n")
        page.wait_for_url("**/form/")
        page.locator("h1").click()
        page.keyboard.press("g")
        page.keyboard.press("m")
        page.wait_for_url("**/m/")

    def test_can_be_turned_off(self, visit: Visit, ana: Any, entries: Any) -> None:
        ana.shortcuts = False
        ana.save()
        page = visit(ana).open(LIST)
        for key in "jxe?n":
            page.keyboard.press(key)
        expect(page.locator("tr.cursor")).to_have_count(0)
        expect(page).to_have_url(re.compile(r"/memories/$"))


class TestInlineEdit:
    def test_escape_brings_the_row_back_without_a_request_and_control_enter_saves(
        self,
        judge_open: Judge,
        page: Page,
    ) -> None:
        field, asked = page.get_by_label("Statement"), []
        page.keyboard.press("j")
        page.keyboard.press("i")
        expect(field).to_be_focused()
        page.on("request", lambda request: asked.append(request.url))
        page.keyboard.press("Escape")
        expect(field).to_have_count(0)
        expect(rows(page).first.locator(":focus")).to_have_count(1)
        assert asked == []
        page.keyboard.press("i")
        expect(field).to_be_focused()
        field.evaluate("e => e.removeAttribute('maxlength')")
        field.fill("x" * 41)
        page.keyboard.press("Control+Enter")
        expect(page.locator(".error")).to_contain_text("at most 40 characters")
        expect(field).to_be_focused()
        judge_open(page, "parts: a refused row")
        field.fill("Trail by 8%")
        page.keyboard.press("Control+Enter")
        expect(rows(page).first).to_contain_text("Trail by 8%")
        expect(rows(page).first.locator(":focus")).to_have_count(1)


class TestToasts:
    def test_leave_after_ten_seconds_unless_somebody_is_there_or_dismisses_them(
        self,
        judge_open: Judge,
        page: Page,
    ) -> None:
        page.clock.install()
        page.keyboard.press("j")
        page.keyboard.press("e")
        expect(page.locator(".toast")).to_be_visible()
        page.locator(".toast button").first.focus()
        judge_open(page, "parts: a toast")
        page.clock.run_for(30_000)
        expect(page.locator(".toast")).to_be_visible()
        page.locator("h1").click()
        page.clock.run_for(10_500)
        expect(page.locator(".toast")).to_have_count(0)
        page.keyboard.press("j")
        page.keyboard.press("e")
        page.get_by_label("Dismiss").click()
        expect(page.locator(".toast")).to_have_count(0)

    def test_stays_with_whoever_was_there_before_it_was_watched(self, page: Page) -> None:
        page.clock.install()
        page.evaluate("""() => {
          const toast = document.createElement("div");
          toast.className = "toast";
          toast.dataset.toast = "";
          toast.innerHTML = "<button>Undo</button>";
          document.querySelector("#toasts").append(toast);
          toast.firstChild.focus();
          document.dispatchEvent(new CustomEvent("htmx:afterSettle"));
        }""")
        page.clock.run_for(30_000)
        expect(page.locator(".toast")).to_be_visible()
        page.locator("h1").click()
        page.clock.run_for(10_500)
        expect(page.locator(".toast")).to_have_count(0)

    def test_their_time_stands_still_while_one_is_pointed_at_and_goes_on_after(self, page: Page) -> None:
        page.clock.install()
        for _ in range(2):
            page.keyboard.press("j")
            page.keyboard.press("e")
        expect(page.locator(".toast")).to_have_count(2)
        page.clock.run_for(8_000)
        page.locator(".toast").first.hover()
        page.clock.run_for(30_000)
        expect(page.locator(".toast")).to_have_count(2)
        page.locator("h1").hover()
        page.clock.run_for(3_000)
        expect(page.locator(".toast")).to_have_count(0)

    def test_what_stands_below_makes_room_and_does_not_move_when_they_leave(self, page: Page) -> None:
        page.set_viewport_size({"width": 1280, "height": 400})
        page.evaluate("scrollTo(0, 120)")
        row, strip = rows(page).nth(3), page.locator("#toasts")
        before = row.bounding_box()["y"]
        page.evaluate("htmx.ajax('GET', '/fail/missing/', '#entries')")
        expect(page.get_by_role("alert")).to_be_visible()
        height = strip.bounding_box()["height"]
        assert row.bounding_box()["y"] == pytest.approx(before + height, abs=1)
        page.eval_on_selector("#toasts [data-dismiss]", "button => button.click()")  # a real click would scroll to it
        expect(page.get_by_role("alert")).to_have_count(0)
        assert row.bounding_box()["y"] == pytest.approx(before + height, abs=1)
        page.mouse.wheel(0, 40)
        expect(strip).to_have_css("height", "0px")
        assert row.bounding_box()["y"] == pytest.approx(before + height - 40, abs=1)


def test_a_failed_request_says_so(page: Page) -> None:
    for how, words in (("missing", "no such memory"), ("crash", "Nothing was lost")):
        page.evaluate(f"htmx.ajax('GET', '/fail/{how}/', '#entries')")
        expect(page.get_by_role("alert")).to_contain_text(words)
        expect(rows(page)).to_have_count(12)
        page.get_by_role("alert").get_by_role("button", name="Dismiss").click()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_the_theme_turns_at_once_and_is_kept(page: Page) -> None:
    button = page.locator("[data-theme-form] button")
    for theme in ("light", "dark"):
        with page.expect_response("**/settings/theme/"):
            button.click()
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
    expect(button).to_have_attribute("aria-label", "Theme: dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(13, 16, 21)"


def test_a_changed_form_is_not_left_by_accident(visit: Visit, ana: Any) -> None:
    page = visit(ana).open("/form/")
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.type))
    page.get_by_label("Statement").fill("half a thought")
    page.get_by_role("link", name="Home").click()
    page.wait_for_url("**/")
    assert asked == ["beforeunload"]


def test_hostile_text_that_arrives_by_htmx_stays_text(visit: Visit, ana: Any) -> None:
    texts = [row["text"].replace("\0", "") for row in corpus("xss")]
    AccessEntry.objects.bulk_create(
        AccessEntry(at=NOON, viewer=ana, owner=ana, kind=" ".join(texts[n : n + 4])[:40], object_id=text[:64])
        for n, text in enumerate(texts[:600])
    )
    page = visit(ana).open(f"{LIST}?long=1")
    page.locator("#entries-more").click()
    expect(rows(page)).to_have_count(600)
    assert page.evaluate("document.querySelectorAll('#entries script, #entries img, #entries iframe').length") == 0
