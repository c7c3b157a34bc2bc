"""A real Chromium on a live server: pages that must stay silent, and what axe finds on them.

`make test` asks axe about each page and each state once: its name decides how wide the window is, whether the page is
light or dark, and in which language it is opened (`look_of`). Whether it scrolls sideways is seen at both widths.
`make soak` judges all of them under every look.
"""

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.conf import settings
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, BrowserType, ConsoleMessage, Page, expect, sync_playwright

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
MAX_MILLISECONDS = 30_000  # until an expectation has to hold: a busy machine takes its time
RULES = {
    "resultTypes": ["violations"],  # what passes is not described: that takes most of the time
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
TARGET_RULES = {**RULES, "runOnly": {"type": "rule", "values": ["target-size"]}}
SMALL_FAMILIES = ("DejaVu Sans", "Liberation Sans")  # Latin alone, on most machines


@dataclass(frozen=True)
class Look:
    """How wide the window is, which theme the page has, and in which language it is opened."""

    width: int
    theme: str
    language: str

    def __str__(self) -> str:
        return f"{self.width}-{self.theme}-{self.language}"


LOOKS = tuple(Look(*each) for each in product((WIDE, NARROW), ("light", "dark"), ("en", "zh-hans")))
SHEETS = LOOKS[::2]  # a page that is open already keeps its language


def look_of(name: str) -> Look:
    """Return the look that this page or state has in `make test`: any of the eight, the same on every machine."""
    return LOOKS[(crc32(name.encode()) >> 4) % len(LOOKS)]


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
def chromium_type(django_db_setup: None) -> Iterator[BrowserType]:
    """What starts browsers."""
    missing(CHROMIUM, CHROMIUM.exists())
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # playwright keeps an event loop on this thread
    first_rows = {each.alias: getattr(each, FIRST_ROWS, None) for each in connections.all()}
    expect.set_options(timeout=MAX_MILLISECONDS)
    with sync_playwright() as playwright:
        for each in connections.all():  # under an event loop Django hands out new ones
            if first_rows[each.alias] is not None:
                setattr(each, FIRST_ROWS, first_rows[each.alias])
        yield playwright.chromium
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


def missing(what: object, is_there: bool) -> None:
    """Skip the tests that need this, loudly, when it is not there; with CI=true they fail."""
    if is_there:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing")
    pytest.skip(f"{what} is missing: browser tests need it")


@pytest.fixture(scope="session")
def chromium(chromium_type: BrowserType) -> Iterator[Browser]:
    """One browser for the run, with the fonts of the machine."""
    browser = chromium_type.launch(executable_path=str(CHROMIUM), args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def small_family() -> str:
    """Name a family of this machine with Latin letters and without Chinese ones."""
    latin, chinese = (families_of(language) for language in ("en", "zh-cn"))
    small = [name for name in (*SMALL_FAMILIES, *sorted(latin)) if name in latin.keys() - chinese.keys()]
    missing("a font without Chinese letters", bool(small))
    return small[0]


@pytest.fixture(scope="session")
def chromium_of_one_family(
    chromium_type: BrowserType,
    small_family: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Browser]:
    """A browser on a machine that has one font and no letters but Latin ones."""
    folder = tmp_path_factory.mktemp("fonts")
    fonts = folder / "family"
    fonts.mkdir()
    for file in families_of("en")[small_family]:
        (fonts / file.name).symlink_to(file)
    config = folder / "fonts.conf"
    config.write_text(f"<fontconfig><dir>{fonts}</dir><cachedir>{folder / 'cache'}</cachedir></fontconfig>")
    environment = {**os.environ, "FONTCONFIG_FILE": str(config)}
    browser = chromium_type.launch(executable_path=str(CHROMIUM), args=FLAGS, env=environment)
    yield browser
    browser.close()


def families_of(language: str) -> dict[str, list[Path]]:
    """Return the files of the font families of this machine that cover a language."""
    command = ["fc-list", f":lang={language}", "--format", "%{family[0]}\t%{file}\n"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found: dict[str, list[Path]] = {}
    for name, file in sorted(line.split("\t") for line in lines):
        found.setdefault(name, []).append(Path(file))
    return found


def settle(page: Page) -> None:
    """Wait until the page is loaded, its scripts have run, and nothing that htmx asked for is under way."""
    page.wait_for_load_state()
    expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")).to_have_count(0)


@dataclass
class Console:
    """The console in a browser, as somebody or, without a user, as a stranger."""

    context: BrowserContext
    page: Page
    url: str
    user: Any = None

    def open(self, path: str) -> Page:
        """Go to a path and wait until it is quiet."""
        self.page.goto(self.url + path)
        settle(self.page)
        return self.page

    def speak(self, language: str) -> None:
        """Open pages in this language from now on."""
        if self.user is None:
            self.context.set_extra_http_headers({"Accept-Language": language})
        else:
            type(self.user).objects.filter(pk=self.user.pk).update(language=language)


Visit = Callable[..., Console]


@contextmanager
def visits(browser: Browser, url: str) -> Iterator[Visit]:
    """Hand out `visit(user, width=NARROW, scripts=False)`; what was opened must have stayed silent throughout.

    Nothing moves there, so no judgement depends on how far a movement is.
    """
    witness, contexts = Witness(), []

    def start(user: Any = None, *, width: int = WIDE, scripts: bool = True) -> Console:
        context = browser.new_context(
            viewport={"width": width, "height": HEIGHTS[width]},
            java_script_enabled=scripts,
            has_touch=width == NARROW,
            reduced_motion="reduce",
        )
        contexts.append(context)
        if user is not None:
            client = Client()
            client.force_login(user)
            cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": url}])
        page = context.new_page()
        witness.watch(page)
        return Console(context, page, url, user)

    yield start
    for context in contexts:
        context.close()
    assert witness.complaints == []


@pytest.fixture
def visit(chromium: Browser, live_server: Any) -> Iterator[Visit]:
    """Open the console, with the fonts of the machine."""
    with visits(chromium, live_server.url) as start:
        yield start


@pytest.fixture
def visit_with_one_family(chromium_of_one_family: Browser, live_server: Any) -> Iterator[Visit]:
    """Open the console where one family is all the fonts there are."""
    with visits(chromium_of_one_family, live_server.url) as start:
        yield start


@dataclass(frozen=True)
class Judge:
    """Judges pages and states: each under the look of its name, or all under the look that is chosen."""

    chosen: Look | None = None

    def look(self, name: str) -> Look:
        """Return the look under which this is judged."""
        return self.chosen or look_of(name)

    def open(self, console: Console, name: str, path: str) -> list[str]:
        """Open a page in the language of its look; return what is wrong with it."""
        look = self.look(name)
        console.speak(look.language)
        answer = console.page.goto(console.url + path)
        faults = [f"answers {answer.status}"] if answer is None or answer.status != HTTPStatus.OK else []
        return [f"{path}: {fault}" for fault in (*faults, *faults_of(console.page, look))]

    def open_all(self, console: Console, paths: Mapping[str, str]) -> None:
        """Open pages by name; fail with everything that is wrong with any of them."""
        assert [fault for name, path in paths.items() for fault in self.open(console, name, path)] == []

    def __call__(self, page: Page, name: str) -> None:
        """Fail with what is wrong with the open page, which goes on as it was."""
        assert faults_of(page, self.look(name)) == []


def soaked(looks: Iterable[Look]) -> list[Any]:
    """Return the parameters of a judge: by name in `make test`, under each of these looks in `make soak`."""
    return [
        pytest.param(None, id="by-name"),
        *(pytest.param(each, id=str(each), marks=pytest.mark.soak) for each in looks),
    ]


@pytest.fixture(params=soaked(LOOKS))
def judge(request: pytest.FixtureRequest) -> Judge:
    """Judges pages that it opens."""
    return Judge(request.param)


@pytest.fixture(params=soaked(SHEETS))
def judge_open(request: pytest.FixtureRequest) -> Judge:
    """Judges pages that are open."""
    return Judge(request.param)


def faults_of(page: Page, look: Look, rules: Mapping[str, Any] = RULES) -> list[str]:
    """Return what axe finds on the open page under a look, and by how much it scrolls sideways, wide and narrow."""
    before = page.viewport_size
    page.emulate_media(color_scheme=look.theme)
    stretch(page, NARROW if look.width == WIDE else WIDE)
    found = width_faults(page)
    stretch(page, look.width)
    found += [*width_faults(page), *(f"{look}: {fault}" for fault in violations(page, rules))]
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="light")
    return found


def stretch(page: Page, width: int) -> None:
    """Make the window as tall as its page: else, what sticks covers what the fonts happen to put under it."""
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    height = page.evaluate("document.documentElement.scrollHeight")
    if height > HEIGHTS[width]:
        page.set_viewport_size({"width": width, "height": height})


def violations(page: Page, rules: Mapping[str, Any]) -> list[str]:
    """Return what axe finds under these rules, as the page is now: rule, first target, what to do."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("(rules) => axe.run(document, rules).then((all) => all.violations)", rules)
    return [f"{fault['id']}: {fault['nodes'][0]['target']}: {fault['nodes'][0]['failureSummary']}" for fault in found]


def width_faults(page: Page) -> list[str]:
    """Return by how much the page scrolls sideways (screens U-26)."""
    shown, wide = page.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollWidth]")
    return [f"{wide - shown} px too wide at {shown}"] if wide > shown else []
