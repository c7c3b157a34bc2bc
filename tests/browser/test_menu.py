"""The side bar, the tabs of a page and the way back in a real browser."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.shell import context
from minara_site.shell.nav import LABELS, SIDE_BAR, EntryLink, TabLink, load_entries
from tests.kit.chromium import WIDE, Visit
from tests.memory_app.memories.factories import make_many

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ENTRIES = {Role.USER: 9, Role.OPERATOR: 12, Role.SUPPORT: 5}


def load_every_entry(principal: Principal) -> list[EntryLink]:
    """Return the side bar of a role once there is a page in each entry."""
    there = {entry.name: entry for entry in load_entries(principal)}
    missing = (TabLink("missing", "Missing", "/nowhere/", addresses=("/nowhere/",)),)
    return [there.get(name, EntryLink(name, *LABELS[name], missing)) for name in SIDE_BAR[principal.role]]


def test_every_entry_is_visible_in_a_window_of_1280_by_800_to_every_role(
    visit: Visit,
    ana: Any,
    olga: Any,
    sam: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(context, "load_entries", load_every_entry)
    shown = {}
    for role, user in ((Role.USER, ana), (Role.OPERATOR, olga), (Role.SUPPORT, sam)):
        console = visit(user)
        console.page.set_viewport_size({"width": WIDE, "height": 800})
        page = console.open("/settings/")
        links = page.locator(".nav a")
        shown[role] = links.count()
        for link in links.all():
            expect(link).to_be_in_viewport(ratio=1)
        assert page.evaluate(
            "document.querySelector('.nav').scrollHeight <= document.querySelector('.nav').clientHeight"
        )
    assert shown == ENTRIES


def open_one_of_some(page: Page) -> None:
    page.locator("tbody [data-open]").first.click()
    expect(page.locator("h1")).to_contain_text("Memory")


def test_the_place_is_kept(visit: Visit, ana: Any) -> None:
    """The side bar stays where it was scrolled to, a list comes back with its filters, and keys open every tab."""
    make_many(ana, 3, at=timezone.now())
    console = visit(ana, scripts=False)
    page = console.open("/memories/?q=number")
    open_one_of_some(page)
    page.locator(".page-tabs [aria-current=true]").click()
    expect(page).to_have_url(f"{console.url}/memories/?q=number")

    console = visit(ana)
    console.page.set_viewport_size({"width": WIDE, "height": 260})
    page = console.open("/memories/?q=number")
    open_one_of_some(page)
    page.get_by_role("navigation", name="Views of this memory").get_by_role("link", name="Why").click()
    page.locator(".crumbs a").first.click()
    expect(page).to_have_url(f"{console.url}/memories/?q=number")
    page.locator(".nav").evaluate("nav => { nav.scrollTop = 30; }")
    page.locator(".nav").get_by_role("link", name="Memories").click()
    expect(page).to_have_url(f"{console.url}/memories/")
    expect(page.locator("html")).to_have_attribute("data-ready", "")
    assert page.locator(".nav").evaluate("nav => nav.scrollTop") == 30
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.locator(".page-tabs [aria-current=page]")).to_have_text("Trash")
    page.keyboard.press("?")
    expect(page.locator("#shortcuts").get_by_role("link", name="Held texts")).to_be_visible()
