"""The frame around a page: navigation by role, time zone, theme, redirects under htmx."""

from typing import Any

import pytest
from django.test import Client

from minara_site.access.models import Theme
from minara_site.access.policy import Act, Role
from minara_site.access.principal import ANONYMOUS, Principal
from minara_site.shell.nav import NAV, NavLink, crumbs_for, current_link
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("test_site")]
HTMX = {"HX-Request": "true"}


class TestNav:
    @table(
        ("role", "names"),
        [
            (Role.ANONYMOUS, set()),
            (Role.SUPPORT, {"home", "access:security", "console:settings"}),
            (Role.USER, {item.url_name for group in NAV if group.label != "Operations" for item in group.items}),
            (Role.OPERATOR, {item.url_name for group in NAV for item in group.items}),
        ],
    )
    def test_offers_only_what_the_role_may_open(self, role: Role, names: set[str]) -> None:
        who = Principal(role=role) if role is not Role.ANONYMOUS else ANONYMOUS
        assert {item.url_name for group in NAV for item in group.items if who.may(item.act)} == names

    def test_every_item_names_an_act_and_shares_its_key_with_none(self) -> None:
        items = [item for group in NAV for item in group.items]
        assert all(isinstance(item.act, Act) for item in items)
        keys = [item.key for item in items if item.key]
        assert len(set(keys)) == len(keys)

    def links(self) -> list[list[NavLink]]:
        urls = ["/", "/memories/", "/memories/trash/"]
        return [[NavLink(url, url, url, "memory", "", "Memory" if url != "/" else "") for url in urls]]

    @table(
        ("path", "url"),
        [
            ("/", "/"),
            ("/memories/", "/memories/"),
            ("/memories/7/", "/memories/"),
            ("/memories/trash/", "/memories/trash/"),
            ("/other/", None),
        ],
    )
    def test_marks_the_page_with_the_longest_fitting_address(self, path: str, url: str | None) -> None:
        current = current_link(self.links(), path)
        assert (current.url if current else None) == url

    def test_crumbs_lead_from_the_group_to_the_page(self) -> None:
        current = self.links()[0][1]
        assert [crumb.label for crumb in crumbs_for(current, "/memories/7/", "Memory 7")] == [
            "Memory",
            "/memories/",
            "Memory 7",
        ]
        assert [crumb.url for crumb in crumbs_for(current, "/memories/7/", "Memory 7")] == ["", "/memories/", ""]
        assert [crumb.label for crumb in crumbs_for(None, "/other/", "Other")] == ["Other"]

    def test_crumbs_say_nothing_twice(self) -> None:
        link = NavLink("memories:list", "记忆", "/memories/", "memory", "", "记忆")
        assert [crumb.label for crumb in crumbs_for(link, "/memories/7/", "记忆 7")] == ["记忆", "记忆 7"]
        assert [crumb.label for crumb in crumbs_for(link, "/memories/bulk/", "记忆")] == ["记忆"]

    def test_one_heading_landmarks_and_the_notice_for_when_nobody_answers(self, page: Client) -> None:
        html = page.get("/memories/").content.decode()
        assert html.count("<h1>") == 1
        assert "<title>Memories · Minara</title>" in html
        for landmark in (
            '<main class="page" id="main"',
            '<nav class="nav" aria-label="Main"',
            '<a class="skip" href="#main">',
        ):
            assert landmark in html
        notice = html.split('<template id="no-answer">')[1].split("</template>")[0]
        assert "data-problem data-no-answer" in notice
        assert "data-dismiss" in notice


@table("zone", ["", "Mars/Olympus", "../../etc/passwd", "UTC"])
def test_an_unknown_zone_is_utc(page: Client, ana: Any, zone: str) -> None:
    ana.time_zone = zone
    ana.save()
    assert page.get("/memories/").status_code == 200


@table("theme", Theme.values)
def test_a_theme_is_kept_and_returns_to_the_page(page: Client, ana: Any, theme: str) -> None:
    response = page.post("/settings/theme/", {"theme": theme, "next": "/memories/?q=a"})
    assert (response.status_code, response["Location"]) == (303, "/memories/?q=a")
    ana.refresh_from_db()
    assert ana.theme == theme
    assert page.post("/settings/theme/", {"theme": "<b>"}).status_code == 422
    ana.refresh_from_db()
    assert ana.theme == theme


def test_under_htmx_a_theme_swaps_nothing_and_the_browser_follows_redirects(page: Client) -> None:
    assert page.post("/settings/theme/", {"theme": "dark"}, headers=HTMX).status_code == 204
    response = page.post("/memories/undo/", headers=HTMX)
    assert (response.status_code, response["HX-Redirect"]) == (200, "/memories/")
