"""Every page that links lead to, seen by each role at two widths and in both themes: axe finds nothing, nothing is too
wide, nothing breaks the content policy, no link is dead (screens U-26, U-27; trust W-07).

A page is opened once and judged wide, then narrow.
"""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import Group
from django.urls import resolve
from django.utils import timezone
from playwright.sync_api import Page

from minara_site.access.models import User
from minara_site.access.policy import Role, permits
from minara_site.console.demo.services import load_demo
from minara_site.web.nav import NAV
from tests.kit.chromium import faults_at_both_widths

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NO_PAGES = {"prompt:text", "audit_log:export", "doctor:anonymous"}  # plain text, downloads
ALSO = ("/memories/graph/?entity=BTC", "/assets/BTC/?show=agent")  # other faces of a view that is seen
FOREIGN = "api:"  # the API's document and its viewer, which django-ninja brings


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


def crawl(console: Any, start: str = "/") -> dict[str, str]:
    """Visit one address of each view that links lead to; return the addresses by view. Fail with all faults at once."""
    seen: dict[str, str] = {}
    faults: list[str] = []
    waiting = [start]
    while waiting:
        path = waiting.pop(0)
        view = view_of(path)
        if view in seen or view in NO_PAGES or view.startswith(FOREIGN):
            continue
        seen[view] = path
        faults += [f"{path}: {fault}" for fault in faults_of(console, path)]
        waiting += links_of(console.page)
    assert faults == []
    return seen


def faults_of(console: Any, path: str) -> list[str]:
    """Open a page and return what is wrong with it."""
    page = console.page
    response = page.goto(console.url + path)
    dead = [f"answers {response.status}"] if response.status != HTTPStatus.OK else []
    return [*dead, *faults_at_both_widths(page)]


@pytest.fixture
def demo(transactional_db: None) -> User:
    """The demo, and its owner."""
    owner = User.objects.get(is_default=True)
    load_demo(now=timezone.now(), actor=f"user:{owner.pk}")
    return owner


PAGES = {item.url_name for group in NAV for item in group.items}
OWNERS_PAGES = {item.url_name for group in NAV for item in group.items if permits(item.act, Role.USER, None)}


class TestEveryPageIsWhole:
    def test_of_an_owner(self, visit: Any, demo: User) -> None:
        console = visit(demo)
        seen = crawl(console)
        assert [fault for path in ALSO for fault in faults_of(console, path)] == []
        assert OWNERS_PAGES | {"memories:one", "memories:edit", "memories:new", "access:key_new"} <= seen.keys()

    def test_of_an_operator(self, visit: Any, demo: User) -> None:
        demo.groups.add(Group.objects.get(name="operators"))
        assert crawl(visit(demo)).keys() >= PAGES

    def test_of_an_owner_of_nothing(self, visit: Any, ana: User) -> None:
        assert crawl(visit(ana)).keys() >= OWNERS_PAGES

    def test_of_support_staff(self, visit: Any, sam: User) -> None:
        assert {"home", "console:settings"} <= crawl(visit(sam)).keys()

    def test_of_a_stranger(self, visit: Any) -> None:
        assert "account_login" in crawl(visit(), "/login")
