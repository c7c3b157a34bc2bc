"""Every page that links lead to: axe finds nothing, nothing is too wide, nothing breaks the content policy, no link is
dead (screens U-26, U-27; trust W-07).

In `make test` a page is judged once, under the look of its view's name: an owner sees what owners may open, an operator
what they may not, support staff and strangers what is theirs. `make soak` shows each of them everything in every look.
"""

from collections.abc import Callable
from importlib import import_module
from itertools import product
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.messages import INFO
from django.contrib.messages.storage.session import SessionStorage
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import resolve, reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.access.policy import Role, permits
from minara_site.access.setup import issue_setup_link
from minara_site.console.demo.services import load_demo
from minara_site.kernel import registry
from minara_site.kernel.guard.models import Hold
from tests.kit.chromium import NARROW, WIDE, Console, Judge, Visit
from tests.kit.page import text_of
from tests.kit.visitor import visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NO_PAGES = {"prompt:text", "audit_log:export", "audit:export", "doctor:anonymous"}  # plain text, downloads
FOREIGN = "api:"  # the API's document and its viewer, which django-ninja brings
ALSO = {  # other faces of a view that is seen
    "edges:graph of one": "/memories/graph/?entity=BTC",
    "pages:one as agents read it": "/assets/BTC/?show=agent",
}


def pages_of(role: Role) -> set[str]:
    """Return the pages that the navigation shows to a role, and those of the same tab."""
    declared = [each for each in registry.load("navigation").values() if role in each.roles]
    return {name for each in declared if permits(each.act, role, None) for name in (each.url_name, *each.also)}


OWNERS_PAGES = pages_of(Role.USER) - {"console:demo_remove"}  # below Home, for operators
PAGES = pages_of(Role.USER) | pages_of(Role.OPERATOR)
SUPPORTS_PAGES = pages_of(Role.SUPPORT) - PAGES


COVERED = """() => [...document.querySelectorAll("a, button, input, select, textarea, summary")].filter((control) => {
  const box = control.getBoundingClientRect();
  const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return box.width && top?.closest("#toasts") && !control.closest("#toasts") && control.checkVisibility({ visibilityProperty: true });
}).map((control) => control.textContent.trim() || control.ariaLabel || control.name)"""


HIDDEN = """() => {
  const here = document.activeElement;
  const box = here.getBoundingClientRect();
  const seen = [0.1, 0.5, 0.9].some((part) => {
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height * part);
    return top && (here.contains(top) || top.closest("label")?.contains(here));
  });
  return seen || here === document.body ? [] : [`the focus is hidden: ${here.outerHTML.slice(0, 90)}`];
}"""


def leave_toasts(console: Console, *texts: str) -> None:
    """Let the next page come with these toasts."""
    key = next(each["value"] for each in console.context.cookies() if each["name"] == settings.SESSION_COOKIE_NAME)
    request = RequestFactory().get("/")
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    storage = SessionStorage(request)
    for text in texts:
        storage.add(INFO, text, "/memories/undo/1/")
    storage.update(HttpResponse())
    request.session.save()


def links_of(page: Page) -> list[str]:
    """Return the addresses on this site that the page links to."""
    found = page.eval_on_selector_all("a[href]", "all => all.map((a) => a.href)")
    return [
        urlsplit(url)._replace(fragment="", scheme="", netloc="").geturl()
        for url in found
        if url.startswith(page.url[:20])
    ]


def view_of(path: str) -> str:
    return resolve(urlsplit(path).path).view_name


def is_owners(path: str) -> bool:
    """Say whether an owner may open this, and meets the same page there."""
    act = getattr(resolve(urlsplit(path).path).func, "act", None)
    return view_of(path) not in {"home", *SUPPORTS_PAGES} and (act is None or permits(act, Role.USER, None))


def crawl(
    console: Console,
    judge: Judge,
    caller: str,
    start: str = "/",
    *,
    is_new: Callable[[str], bool] = lambda _: True,
) -> set[str]:
    """Open one address of each view that links lead to, and judge the new ones; return the views that were judged."""
    seen: set[str] = set()
    judged: set[str] = set()
    faults: list[str] = []
    waiting = [start]
    while waiting:
        path = waiting.pop(0)
        view = view_of(path)
        if view in seen | NO_PAGES or view.startswith(FOREIGN):
            continue
        seen.add(view)
        if judge.chosen or is_new(path):
            judged.add(view)
            faults += judge.open(console, f"{view} {caller}".strip(), path)
            waiting += links_of(console.page)
    assert faults == []
    return judged


@pytest.fixture
def demo(transactional_db: None) -> User:
    """The demo, and its owner."""
    owner = User.objects.get(is_default=True)
    load_demo(now=timezone.now(), actor=f"user:{owner.pk}")
    return owner


def test_what_an_owner_opens(visit: Visit, judge: Judge, demo: User) -> None:
    console = visit(demo)
    seen = crawl(console, judge, "")
    judge.open_all(console, ALSO)
    assert OWNERS_PAGES | {"memories:one", "memories:edit", "memories:new", "access:key_new"} <= seen
    shown = {(look.width, look.theme) for look in map(judge.look, seen)}
    assert judge.chosen or shown == set(product((WIDE, NARROW), ("light", "dark")))


def test_what_only_an_operator_opens(visit: Visit, judge: Judge, demo: User) -> None:
    demo.groups.add(Group.objects.get(name="operators"))
    console, name = visit(demo), "of an operator"
    seen = crawl(console, judge, name, is_new=lambda path: not is_owners(path))
    internals = reverse("capital:page")  # a tab of a page that owners have
    seen |= crawl(console, judge, name, internals, is_new=lambda path: path.startswith("/ops/internals/"))
    assert seen >= PAGES - OWNERS_PAGES


def test_toasts_cover_no_control_and_what_has_the_focus_is_seen(visit: Visit, demo: User) -> None:
    demo.groups.add(Group.objects.get(name="operators"))
    console = visit(demo)
    own, hold = Memory.objects.filter(owner=demo, source="user_manual").live()[0], Hold.objects.open()[0]
    names = ["memories:list", "held:list", "role_memory:outcomes", "memories:new", "console:settings", "search:page"]
    places = [*map(reverse, names), f"/memories/{own.pk}/edit/", f"/memories/held/{hold.pk}/"]
    faults = []
    for (width, height), path in product(((1280, 800), (800, 600), (360, 740)), places):
        console.page.set_viewport_size({"width": width, "height": height})
        leave_toasts(console, "Deleted 1 memory. It can be restored for 30 days.", "Saved as version 2.")
        page = console.open(path)
        expect(page.locator(".toast")).to_have_count(2)
        page.eval_on_selector_all("tbody [name='ids']", "all => all[0]?.click()")  # the bar of what is chosen
        faults += [f"{path} at {width}: {name}" for name in page.evaluate(COVERED)]
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        for _ in range(12):
            page.keyboard.press("Shift+Tab")
            faults += [f"{path} at {width}: {fault}" for fault in page.evaluate(HIDDEN)]
    assert faults == []


def test_the_lists_of_an_owner_of_nothing(visit: Visit, judge: Judge, ana: User) -> None:
    console, client = visit(ana), visitor(ana)
    addresses = {name: reverse(name) for name in sorted(OWNERS_PAGES)}
    empty = {name: path for name, path in addresses.items() if 'class="empty"' in text_of(client.get(path))}
    assert empty.keys() >= {"memories:list", "memories:trash", "held:list", "facts:list", "bundle:imports"}
    if judge.chosen:
        crawl(console, judge, "of nothing")
    else:
        judge.open_all(console, {f"{name} of nothing": path for name, path in empty.items()})


def test_what_support_staff_and_operators_beside_the_demo_open(
    visit: Visit,
    judge: Judge,
    demo: User,
    sam: User,
    olga: User,
) -> None:
    judge.open_all(visit(olga), {"home beside the demo": "/"})
    console = visit(sam)
    seen = crawl(console, judge, "of support", is_new=lambda path: not is_owners(path))
    assert "home" in seen
    judge.open_all(console, {f"{name} of support": reverse(name) for name in SUPPORTS_PAGES})


def test_what_a_stranger_opens(visit: Visit, judge: Judge, db: None) -> None:
    seen = crawl(visit(), judge, "", "/login")
    judge.open_all(visit(), {"setup": f"/welcome/{issue_setup_link(now=timezone.now())}/"})
    assert "account_login" in seen
