"""A real Chromium on a live server: pages that must stay silent, and axe."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
ANSWERS = ("Failed to load resource", "Response Status Error Code")
FIRST_ROWS = "_test_serialized_contents"  # what `serialized_rollback` puts back
WIDE, NARROW = 1280, 360
HEIGHTS = {WIDE: 900, NARROW: 800}
MOST_MILLISECONDS = 30_000  # until an expectation has to hold: a busy machine takes its time
VIOLATIONS = {"resultTypes": ["violations"]}  # what passes is not described: that takes most of the time
RULES = {**VIOLATIONS, "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
COLOR_RULES = {**VIOLATIONS, "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


@dataclass
class Witness:
    """What a page must never do: throw, complain, break the content policy, open a dialog, load from elsewhere."""

    complaints: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Listen to a page."""
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", self.on_dialog)
        page.on("console", self.on_console)

    def on_dialog(self, dialog: Any) -> None:
        """Note a dialog and close it."""
        if dialog.type != "beforeunload":
            self.complaints.append(f"dialog: {dialog.message}")
        dialog.accept()

    def on_console(self, message: ConsoleMessage) -> None:
        """Note errors, content policy reports among them; an answer of 4xx or 5xx alone is none."""
        if message.type == "error" and not message.text.startswith(ANSWERS):
            self.complaints.append(f"console: {message.text}")


@pytest.fixture(scope="session")
def chromium(django_db_setup: None) -> Iterator[Browser]:
    """One browser for the run."""
    if not CHROMIUM.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{CHROMIUM} is missing")
        pytest.skip(f"{CHROMIUM} is missing: browser tests need it")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # playwright keeps an event loop on this thread
    first_rows = {each.alias: getattr(each, FIRST_ROWS, None) for each in connections.all()}
    expect.set_options(timeout=MOST_MILLISECONDS)
    with sync_playwright() as playwright:
        for each in connections.all():  # under an event loop Django hands out new ones
            if first_rows[each.alias] is not None:
                setattr(each, FIRST_ROWS, first_rows[each.alias])
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


def settle(page: Page) -> None:
    """Wait until the page is loaded, its scripts have run, and nothing that htmx asked for is under way."""
    page.wait_for_load_state()
    expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")).to_have_count(0)


@dataclass
class Console:
    """The console in a browser, as somebody."""

    context: BrowserContext
    page: Page
    url: str

    def open(self, path: str) -> Page:
        """Go to a path and wait until it is quiet."""
        self.page.goto(self.url + path)
        settle(self.page)
        return self.page


@pytest.fixture
def visit(chromium: Browser, live_server: Any) -> Iterator[Callable[..., Console]]:
    """Open the console: `visit(user, width=NARROW, scripts=False)`. It must stay silent throughout."""
    witness, contexts = Witness(), []

    def start(user: Any = None, *, width: int = WIDE, scripts: bool = True) -> Console:
        context = chromium.new_context(
            viewport={"width": width, "height": HEIGHTS.get(width, 900)},
            java_script_enabled=scripts,
            has_touch=width == NARROW,
        )
        contexts.append(context)
        if user is not None:
            client = Client()
            client.force_login(user)
            cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
        page = context.new_page()
        witness.watch(page)
        return Console(context, page, live_server.url)

    yield start
    for context in contexts:
        context.close()
    assert witness.complaints == []


def axe_faults(page: Page) -> list[str]:
    """Return what axe finds: rule, first target, what to do; then what the rules of colour find in the dark."""
    found = violations(page, RULES)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    in_the_dark = violations(page, COLOR_RULES)
    page.emulate_media(color_scheme="light")
    return [*found, *(f"dark: {fault}" for fault in in_the_dark)]


def violations(page: Page, rules: dict[str, Any]) -> list[str]:
    """Return what axe finds under these rules, as the page is now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("(rules) => axe.run(document, rules).then((all) => all.violations)", rules)
    return [f"{fault['id']}: {fault['nodes'][0]['target']}: {fault['nodes'][0]['failureSummary']}" for fault in found]


def width_faults(page: Page) -> list[str]:
    """Return by how much the page scrolls sideways (screens U-26)."""
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return [f"{wide} px too wide"] if wide > 0 else []


def faults_at_both_widths(page: Page) -> list[str]:
    """Return what axe finds on the open page, and by how much it scrolls sideways, as on a desk and as on a telephone."""
    faults = []
    for width in (NARROW, WIDE):
        page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
        faults += [f"{width} px: {fault}" for fault in (*axe_faults(page), *width_faults(page))]
    return faults


def axe_clean(page: Page) -> None:
    """Fail with what axe finds, in both themes."""
    assert axe_faults(page) == []


def fits_width(page: Page) -> None:
    """Fail when the page scrolls sideways."""
    assert width_faults(page) == []
