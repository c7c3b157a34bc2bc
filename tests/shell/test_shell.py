"""The frame around a page: navigation by role, time zone, theme, redirects under htmx."""

from typing import Any

import pytest
from django.test import Client, RequestFactory

from minara_site.access.models import Theme
from minara_site.access.policy import Role
from minara_site.access.principal import ANONYMOUS, Principal
from minara_site.shell.context import Shell
from minara_site.shell.nav import SIDE_BAR, Crumb, EntryLink, NavEntry, TabLink, crumbs_to, find_place, load_entries
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("test_site")]
HTMX = {"HX-Request": "true"}
DECISIONS = ("decisions", "decision_roles")


MEMORIES = EntryLink(
    NavEntry.MEMORIES,
    "Memories",
    "memory",
    (
        TabLink("memories", "Memories", "/memories/", addresses=("/memories/",)),
        TabLink("trash", "Trash", "/memories/trash/", addresses=("/memories/trash/", "/bin/")),
    ),
)
HOME = EntryLink(NavEntry.HOME, "Home", "home", (TabLink("home", "Home", "/", addresses=("/",)),))


def names_of(role: Role) -> dict[str, list[str]]:
    """Return what a role finds: the tabs of each entry, by name, in order."""
    return {entry.name: [tab.name for tab in entry.tabs] for entry in load_entries(Principal(role=role))}


class TestNav:
    def test_each_role_finds_its_entries_with_the_pages_that_there_are(self) -> None:
        assert names_of(Role.USER) == {
            "home": ["home", "changes"],
            "memories": ["memories", "facts", "user_profile", "held", "trash", "own_queue"],
            "search": ["search", "compare_rankings"],
            "assets": ["assets", "links"],
            "prompt": ["prompt"],
            "profile": ["profile", "tags", "preferences", "workspace"],
            "learning": ["decisions", "learnings", "decision_roles", "methodologies", "institution"],
            "trading": ["ledger", "cases", "activity", "lessons"],
            "settings": ["settings", "security", "keys", "privacy", "your_data"],
        }
        assert names_of(Role.OPERATOR) == {
            "home": ["home", "changes"],
            "review": ["queue", "review.held", "conflicts", "outcomes", "alerts"],
            "memories": ["memories", "facts", "user_profile", "trash", "writers"],
            "search": ["search", "compare_rankings"],
            "assets": ["assets", "links"],
            "prompt": ["prompt"],
            "profile": ["profile", "tags", "preferences", "workspace"],
            "learning": [
                "audit",
                "findings",
                "operators.methodologies",
                "operators.learnings",
                *DECISIONS,
                "institution",
            ],
            "trading": ["ledger", "cases", "activity", "capital", "strategy_runs", "lessons"],
            "system": "status doctor jobs budgets automation semantic_search guard_rules prices configuration".split(),
            "people": ["users", "audit_log", "access_log"],
            "settings": ["settings", "security", "keys", "privacy", "your_data"],
        }
        assert names_of(Role.SUPPORT) == {
            "find_case": ["find_case"],
            "trading_cases": ["support.cases"],
            "ledger": ["support.ledger"],
            "institution": ["support.institution"],
            "settings": ["settings", "security", "reveals"],
        }
        assert load_entries(ANONYMOUS) == []

    @table("role", list(SIDE_BAR))
    def test_no_role_finds_a_page_or_a_key_twice(self, role: Role) -> None:
        tabs = [tab for entry in load_entries(Principal(role=role)) for tab in entry.tabs]
        keys = [tab.key for tab in tabs if tab.key]
        assert len({tab.url for tab in tabs}) == len(tabs)
        assert len(set(keys)) == len(keys)

    @table(
        ("path", "tab", "address"),
        [
            ("/", "home", "/"),
            ("/memories/", "memories", "/memories/"),
            ("/memories/7/", "memories", "/memories/"),
            ("/memories/trash/", "trash", "/memories/trash/"),
            ("/bin/7/", "trash", "/bin/"),
            ("/other/", None, None),
        ],
    )
    def test_finds_the_tab_with_the_longest_fitting_address(self, path: str, tab: Any, address: Any) -> None:
        place = find_place([HOME, MEMORIES], path)
        assert (place.tab.name, place.address) == (tab, address) if place else tab is None

    @table(
        ("path", "title", "came_from", "steps"),
        [
            ("/", "Home", "", [("Home", "")]),
            ("/memories/", "Memories of Mei", "", [("Memories", "")]),
            ("/memories/7/", "Memory 7", "", [("Memories", "/memories/"), ("Memory 7", "")]),
            (
                "/memories/7/",
                "Memory 7",
                "testserver/memories/?q=a",
                [("Memories", "/memories/?q=a"), ("Memory 7", "")],
            ),
            ("/memories/7/", "Memory 7", "elsewhere/memories/?q=a", [("Memories", "/memories/"), ("Memory 7", "")]),
            ("/memories/7/", "Memory 7", "testserver/facts/?q=a", [("Memories", "/memories/"), ("Memory 7", "")]),
            ("/memories/bulk/", "Memories", "", [("Memories", "")]),
            (
                "/memories/trash/",
                "Trash",
                "testserver/memories/trash/?q=a",
                [("Memories", "/memories/"), ("Trash", "")],
            ),
            ("/bin/", "Bin", "", [("Memories", "/memories/"), ("Trash", "/memories/trash/"), ("Bin", "")]),
            ("/bin/7/", "7", "testserver/bin/?q=a", [("Memories", "/memories/"), ("Trash", "/bin/?q=a"), ("7", "")]),
            ("/other/", "Other", "", [("Other", "")]),
        ],
    )
    def test_crumbs_lead_from_the_entry_over_the_tab_to_the_page_and_keep_its_filters(
        self,
        rf: RequestFactory,
        path: str,
        title: str,
        came_from: str,
        steps: list[tuple[str, str]],
    ) -> None:
        shell = Shell(rf.get(path, headers={"Referer": came_from and f"http://{came_from}"}))
        shell.entries = [HOME, MEMORIES]
        assert [(crumb.label, crumb.url) for crumb in shell.crumbs(title)] == steps

    def test_crumbs_say_nothing_twice(self) -> None:
        below = [Crumb("Trash", "/memories/trash/?owner=mei"), Crumb("7", "/7/")]
        way = crumbs_to(find_place([MEMORIES], "/memories/trash/"), below)
        assert way == [Crumb("Memories", "/memories/"), below[0], Crumb("7")]

    def test_one_heading_landmarks_and_the_notice_for_when_nobody_answers(self, page: Client) -> None:
        html = page.get("/memories/").content.decode()
        assert html.count("<h1>") == 1
        assert "<title>Memories · Minara</title>" in html
        landmarks = (
            '<main class="page" id="main"',
            '<nav class="nav" aria-label="Main"',
            '<a class="skip" href="#main">',
        )
        assert [landmark for landmark in landmarks if landmark not in html] == []
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
