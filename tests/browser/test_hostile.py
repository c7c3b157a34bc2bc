"""Hostile text that moves, in a real browser: it arrives by htmx, is searched for, edited in its row, refused, deleted
and brought back; raw answers and the API's own pages are opened. Nothing may run, and nothing may be asked of another
host (W-06, W-07).

`test_hostile_text` opens pages on the whole corpus; `tests.hostile` reads the markup of all of them.
"""

from urllib.parse import quote

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Request, expect

from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, delete_memories, edit_memory
from memory_app.user_profile.services import set_entry
from minara_site.access.keys.services import create_key
from minara_site.access.models import User
from minara_site.access.principal import Principal
from tests.kit.chromium import NARROW, WIDE, Console, Visit, settle, width_faults
from tests.kit.shared import corpus
from tests.memory_app.memories.factories import make_memory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ALIEN = "main :is(img, iframe, script, object, embed, video, audio, style, link, meta, base, math, marquee, form[action*='evil'])"
PROBE = """() => {
  window.ran = [];
  for (const name of ["alert", "confirm", "prompt", "print"]) window[name] = (...args) => window.ran.push(name);
  document.addEventListener("securitypolicyviolation", (event) => window.ran.push(`${event.violatedDirective} ${event.blockedURI}`));
}"""


@pytest.fixture
def statements() -> list[str]:
    """Return the rows that use htmx or markdown, and every thirtieth of the others."""
    rows = corpus("xss")
    chosen = [row["text"] for row in rows if row["src"].startswith("authored")] + [row["text"] for row in rows[::30]]
    return [text.replace("\0", "").strip() for text in chosen if text.strip()]


@pytest.fixture
def memories(ana: User, statements: list[str]) -> list[Memory]:
    """Store each as a memory that Ana typed."""
    return [make_memory(ana, text, at=timezone.now()) for text in statements]


class Watched:
    """A page that tells what ran in it and whom it asked."""

    def __init__(self, console: Console) -> None:
        self.console, self.page = console, console.page
        self.asked: list[str] = []
        console.context.add_init_script(f"({PROBE})()")
        self.page.on("request", self.note)

    def note(self, request: Request) -> None:
        """Keep what goes to another host."""
        if not request.url.startswith((self.console.url, "data:", "blob:")):
            self.asked.append(request.url)

    def open(self, path: str) -> Page:
        """Go there and wait until it is quiet."""
        return self.console.open(path)

    def is_clean(self) -> None:
        """Fail with what ran, what was blocked, what was asked of others, and what does not belong on the page."""
        assert self.page.evaluate("window.ran") == []
        assert self.asked == []
        assert self.page.locator(ALIEN).count() == 0


@pytest.fixture
def watched(visit: Visit, ana: User) -> Watched:
    return Watched(visit(ana))


def test_rows_that_arrive_by_htmx_are_text(watched: Watched, memories: list[Memory]) -> None:
    page = watched.open("/memories/")
    more = page.locator("a[hx-get*=cursor]")
    if more.count():
        more.first.click()
        settle(page)
        watched.is_clean()
    for text in ("alert", "onerror", "hx-get", "javascript:", '"><img src=x onerror=alert(1)>', "{{7*7}}"):
        field = page.locator("main input[name=q]").first
        field.fill(text)
        field.press("Enter")
        settle(page)
        watched.is_clean()


def test_a_row_is_edited_refused_deleted_and_brought_back_as_text(watched: Watched, memories: list[Memory]) -> None:
    page = watched.open("/memories/")
    for memory in memories[:: len(memories) // 6]:
        row = page.locator(f"#memory-{memory.pk}")
        if not row.count():
            continue
        row.locator("summary").first.click()
        row.locator("[data-edit]").first.click()
        area = page.locator("form[data-inline] textarea[name=statement]")
        expect(area).to_have_value(memory.content)
        area.fill(f"{memory.content} <img src=x onerror=alert(1)>")
        area.press("Control+Enter")
        settle(page)
        anyway = page.locator("form[data-inline] input[type=checkbox]")
        if anyway.count():  # the guard would hold it
            watched.is_clean()
            anyway.check()
            area.press("Control+Enter")
            settle(page)
        expect(page.locator("form[data-inline]")).to_have_count(0)
        watched.is_clean()
    page = watched.open(f"/memories/{memories[0].pk}/")
    page.locator("[data-act=delete]").first.click()
    settle(page)
    watched.is_clean()
    page.locator("#toasts [data-undo] button").first.click()
    settle(page)
    watched.is_clean()
    assert Memory.objects.live().filter(pk=memories[0].pk).exists()


def test_what_a_form_refuses_comes_back_as_text(watched: Watched, statements: list[str]) -> None:
    page = watched.open("/memories/new/")
    for text in statements[::12]:
        page.locator("textarea[name=statement]").fill("x")
        page.locator("input[name=fact_type]").fill(text[:64])
        page.locator("input[name=tickers]").fill(f"{text[:40]} !")
        page.locator("main form button.btn-primary").first.click()
        expect(page.locator(".error").first).to_be_visible()
        settle(page)
        watched.is_clean()


def test_a_word_without_end_breaks(visit: Visit, ana: User) -> None:
    word = "0x" + "Deadbeef" * 60
    changed = make_memory(ana, f"send to {word}", at=timezone.now())
    person, now = Principal(user=ana, role=ana.role), timezone.now()
    edit_memory(
        principal=person,
        memory_id=changed.pk,
        changes=Changes(content=f"never send to {word}"),
        now=now,
        reason=word[:200],
    )
    gone = make_memory(ana, word, at=now)
    delete_memories(principal=person, owner=ana, ids=[gone.pk], now=now, reason=word[:200])
    set_entry(owner=ana, key="k" * 64, value=word, actor=person.actor, now=now)
    create_key(user=ana, scopes=["memory:read"], now=now, actor=person.actor, label=word[:80])
    ana.display_name = word[:80]
    ana.save()
    console, faults = visit(ana), []
    for path in ("/", "/memories/", f"/memories/{changed.pk}/", "/memories/trash/", "/search/?q=send", f"/search/?q={word}", f"/memories/?q={word}",
                 f"/memories/?{word}=1", "/prompt/", "/user-profile/", "/settings/keys/", "/settings/"):  # fmt: skip
        page = console.open(path)
        for width in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": 800})
            wide = page.evaluate(
                "[...document.querySelectorAll('table')].filter((t) => t.scrollWidth > t.parentElement.clientWidth + 1).length"
            )
            faults += [f"{path}: {fault}" for fault in (*width_faults(page), *[f"a wide table at {width}"] * wide)]
    assert faults == []


def test_raw_answers_and_problems_opened_as_a_page_run_nothing(
    watched: Watched,
    memories: list[Memory],
    statements: list[str],
) -> None:
    prefixes = ("/", "/v1/", "/memories/", "/user-profile/")
    problems = [f"{prefixes[n % 4]}{quote(text, safe='')}/" for n, text in enumerate(statements[::4])]
    raw = ["/v1/memory", "/v1/memory?q=alert", "/v1/memory/search?q=alert", "/v1/user-profile", "/v1/tools"]
    for path in (*raw, *problems):
        watched.page.goto(watched.console.url + path)
        assert watched.asked == [], path
        assert watched.page.locator("img, iframe, object, main script").count() == 0, path


def test_the_api_documents_load_nothing_from_elsewhere(watched: Watched) -> None:
    page = watched.open("/v1/docs")
    expect(page.locator(".opblock").first).to_be_visible()
    page.locator(".opblock-summary").first.click()
    expect(page.locator(".opblock-body").first).to_be_visible()
    assert page.evaluate("window.ran") == []
    assert watched.asked == []
