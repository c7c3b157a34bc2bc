"""The memories in a real browser: how they look, and how fast hands use them."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, delete_memories, edit_memory
from minara_site.kernel.core.vocabulary import Category, Source
from tests.kit.chromium import NARROW, Judge, Visit
from tests.memory_app.memories.factories import browser, make_many, make_memory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def memories(ana: Any) -> list[Memory]:
    """Five that Ana typed, the first of them edited, one that the agent noticed, and one in the trash."""
    now = timezone.now()
    typed = make_many(ana, 5, at=now - timedelta(minutes=10))
    changes = Changes(content="Memory number 0, edited")
    edit_memory(principal=browser(ana), memory_id=typed[0].pk, changes=changes, now=now, reason="too short")
    make_memory(ana, "山寨币单笔仓位不超过总资金的 3%", category=Category.LESSON, source=Source.INFERRED, at=now)
    gone = make_memory(ana, "Old belief", at=now - timedelta(days=9))
    delete_memories(principal=browser(ana), owner=ana, ids=[gone.pk], now=now - timedelta(days=4))
    return [*typed, gone]


def rows(page: Page) -> Any:
    return page.locator("#memories-rows > tr")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_every_state_is_whole(visit: Visit, judge: Judge, ana: Any, memories: list[Memory]) -> None:
    typed, gone = memories[0].pk, memories[-1].pk
    lesson = Memory.objects.get(category=Category.LESSON).pk
    paths = {
        "memories: a few": "/memories/",
        "memories: filters and a notice": "/memories/?q=number&category=personalization&state=deleted&nope=1",
        "memories: found": "/memories/?q=memory",
        "memories: the trash": "/memories/trash/",
        "memories: a correction": f"/memories/new/?corrects={lesson}",
        "memories: one that was edited": f"/memories/{typed}/",
        "memories: one in Chinese": f"/memories/{lesson}/",
        "memories: a deleted one": f"/memories/{gone}/",
        "memories: deleting one": f"/memories/{typed}/delete/",
    }
    judge.open_all(visit(ana), paths)


def test_errors_and_conflicts_are_too(visit: Visit, judge_open: Judge, ana: Any, memories: list[Memory]) -> None:
    page = visit(ana).open("/memories/new/")
    page.get_by_label("Tickers").fill("no-ticker!")
    page.get_by_label("What should the agent know?").fill("I hold ETH")
    page.get_by_role("button", name="Store").click()
    expect(page.get_by_label("Tickers")).to_have_attribute("aria-invalid", "true")
    judge_open(page, "memories: a refused one")
    page.goto(page.url.replace("new/", f"{memories[1].pk}/edit/"))
    edit_memory(
        principal=browser(ana),
        memory_id=memories[1].pk,
        changes=Changes(content="Theirs"),
        now=timezone.now(),
    )
    page.get_by_label("What should the agent know?").fill("Mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("changed meanwhile")
    judge_open(page, "memories: a conflict")


class TestKeyboard:
    def test_deletes_the_row_under_the_cursor_or_all_that_are_selected_and_undoes_it(
        self,
        visit: Visit,
        ana: Any,
        memories: list[Memory],
    ) -> None:
        page = visit(ana).open("/memories/")
        expect(rows(page)).to_have_count(6)
        press(page, "j", "j")
        expect(page.locator("tr.cursor")).to_contain_text("edited")
        press(page, "e")
        expect(rows(page)).to_have_count(5)
        expect(page.locator("#toasts")).to_contain_text("Deleted 1 memory. It can be restored for 30 days.")
        press(page, "u")
        expect(page.locator("#toasts")).to_contain_text("Undone for 1 memory.")
        expect(rows(page)).to_have_count(6)
        press(page, "j", "j", "x", "j", "x", "j", "x")
        expect(page.locator("[data-selected]")).to_have_text("3 selected")
        press(page, "e")
        expect(page.locator("#toasts")).to_contain_text("Deleted 3 memories.")
        expect(rows(page)).to_have_count(3)
        press(page, "u")
        expect(rows(page)).to_have_count(6)

    def test_the_row_under_the_cursor_never_hides_behind_what_sticks(self, visit: Visit, ana: Any) -> None:
        make_many(ana, 40)
        page = visit(ana).open("/memories/")
        press(page, *"j" * 40, "x", *"k" * 40)
        row, bar, head = (page.locator(each).bounding_box() for each in ("tr.cursor", ".bulk", "thead th.pick"))
        assert row["y"] >= max(bar["y"] + bar["height"], head["y"] + head["height"])

    def test_edits_in_the_row(self, visit: Visit, judge_open: Judge, ana: Any, memories: list[Memory]) -> None:
        page = visit(ana).open("/memories/")
        press(page, "j", "j", "j", "i")
        box = page.get_by_label("What should the agent know?")
        expect(box).to_be_focused()
        expect(box).to_have_value("Memory number 1")
        judge_open(page, "memories: a row that is edited")
        press(page, "Escape")
        expect(page.locator("[data-inline]")).to_have_count(0)
        expect(rows(page)).to_have_count(6)
        press(page, "i")
        expect(box).to_be_focused()
        box.fill("Memory number 1, by keyboard")
        expect(page.locator("[data-count]")).to_contain_text("28 characters")
        press(page, "Control+Enter")
        expect(page.get_by_role("link", name="Memory number 1, by keyboard")).to_be_visible()
        expect(page.locator("#toasts")).to_contain_text("Saved as version 2.")
        assert Memory.objects.get(pk=memories[1].pk).content == "Memory number 1, by keyboard"

    def test_tells_opens_edits_deletes_and_loses_nothing_half_written(self, visit: Visit, ana: Any) -> None:
        page = visit(ana).open("/memories/")
        asked: list[str] = []
        page.on("dialog", lambda dialog: asked.append(dialog.type))
        press(page, "n")
        page.wait_for_url("**/memories/new/")
        expect(page.get_by_label("What should the agent know?")).to_be_focused()
        page.keyboard.type("Half a sentence")
        page.get_by_role("link", name="Trash").click()
        page.wait_for_url("**/trash/")
        assert asked == ["beforeunload"]
        press(page, "g", "m")
        page.wait_for_url("**/memories/")
        press(page, "n")
        expect(page.get_by_label("What should the agent know?")).to_be_focused()
        page.keyboard.type("I hold ETH for years")
        press(page, "Control+Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Memory")
        expect(page.locator("#toasts")).to_contain_text("Stored.")
        assert Memory.objects.get().content == "I hold ETH for years"
        press(page, "g", "m")
        expect(rows(page).first).to_contain_text("I hold ETH for years")
        press(page, "j", "Enter")
        expect(page.locator(".quote")).to_have_text("I hold ETH for years")
        press(page, "i")
        expect(page.get_by_label("What should the agent know?")).to_be_focused()
        press(page, "Escape")
        expect(page.locator(".quote")).to_be_visible()
        press(page, "e")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Deleted")
        assert asked == ["beforeunload"]

    def test_enter_on_a_checkbox_opens_the_row_and_deletes_nothing(
        self,
        visit: Visit,
        ana: Any,
        memories: list[Memory],
    ) -> None:
        page = visit(ana).open("/memories/")
        press(page, "j", "j", "x")
        rows(page).nth(1).get_by_role("checkbox").focus()
        press(page, "Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text(f"Memory {memories[0].pk}")
        assert Memory.objects.live().count() == 6

    def test_searches_and_keeps_the_address(self, visit: Visit, ana: Any, memories: list[Memory]) -> None:
        page = visit(ana).open("/memories/")
        press(page, "/")
        page.keyboard.type("仓位")
        press(page, "Enter")
        expect(rows(page)).to_have_count(1)
        expect(page.locator("mark")).to_have_text("仓位")
        assert "q=" in page.url


class TestPointer:
    def test_filters_without_reloading(self, visit: Visit, ana: Any, memories: list[Memory]) -> None:
        page = visit(ana).open("/memories/")
        page.evaluate("window.same = true")
        page.get_by_role("link", name="Deleted 1").click()
        expect(rows(page)).to_have_count(1)
        expect(rows(page)).to_contain_text("Old belief")
        page.locator(".drop-form > summary").click()
        page.get_by_label("Category").select_option("lesson")
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_text("Nothing matches")).to_be_visible()
        page.get_by_label("Remove filter: Category lesson").click()
        expect(rows(page)).to_have_count(1)
        assert page.evaluate("window.same")

    def test_restores_from_the_trash(self, visit: Visit, ana: Any, memories: list[Memory]) -> None:
        page = visit(ana, width=NARROW).open("/memories/trash/")
        page.locator(".row-menu > summary").click()
        page.get_by_role("button", name="Restore").last.click()
        expect(page.locator("#trash-rows > tr")).to_have_count(0)
        expect(page.locator("#toasts")).to_contain_text("Restored 1 memory.")
        assert Memory.objects.live().count() == 7

    def test_a_conflict_takes_the_place_of_the_list(self, visit: Visit, ana: Any, memories: list[Memory]) -> None:
        page = visit(ana).open("/memories/")
        press(page, "j", "j", "j", "i")
        page.get_by_label("What should the agent know?").fill("Mine")
        edit_memory(
            principal=browser(ana),
            memory_id=memories[1].pk,
            changes=Changes(content="Theirs"),
            now=timezone.now(),
        )
        press(page, "Control+Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("changed meanwhile")
        page.get_by_role("button", name="Save yours").click()
        expect(page.locator(".quote")).to_have_text("Mine")
