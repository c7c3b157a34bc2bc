"""`/settings/`: preferences that apply at once, and who looked."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from minara_site.access.models import AccessEntry, User
from minara_site.kernel.audit_log.models import AuditEntry
from tests.kit.tables import table
from tests.kit.visitor import visitor

pytestmark = pytest.mark.django_db
CHOSEN = {
    "display_name": "Ana B",
    "language": "",
    "time_zone": "Asia/Shanghai",
    "theme": "dark",
    "density": "compact",
    "shortcuts": "on",
}


def test_what_is_chosen_applies_to_the_next_page(page: Client) -> None:
    answer = page.post("/settings/", CHOSEN)
    assert (answer.status_code, answer["Location"]) == (303, "/settings/")
    shown = page.get("/settings/").content.decode()
    assert 'data-theme="dark"' in shown
    assert 'data-density="compact"' in shown
    assert 'data-shortcuts="on"' in shown
    assert "Ana B" in shown
    assert '<option value="Asia/Shanghai" selected>' in shown
    entry = AuditEntry.objects.get(tool_call="settings_changed")
    assert entry.details == {"fields": ["density", "display_name", "theme", "time_zone"]}
    page.post("/settings/", {key: value for key, value in CHOSEN.items() if key != "shortcuts"})
    assert 'data-shortcuts="off"' in page.get("/settings/").content.decode()


def test_the_chosen_language_is_spoken(page: Client) -> None:
    page.post("/settings/", {**CHOSEN, "language": "zh-hans"})
    answer = page.get("/settings/")
    assert answer["Content-Language"] == "zh-hans"
    assert "已保存。" in answer.content.decode()
    assert '<html lang="zh-Hans"' in answer.content.decode()


def test_saving_what_is_there_leaves_no_trace(page: Client) -> None:
    for _twice in range(2):
        page.post("/settings/", CHOSEN)
    assert AuditEntry.objects.filter(tool_call="settings_changed").count() == 1


@table(
    ("name", "value"),
    [
        ("time_zone", "Mars/Olympus"),
        ("time_zone", ""),
        ("theme", "pink"),
        ("density", ""),
        ("language", "tlh"),
        ("display_name", "x" * 81),
        ("display_name", "a\0b"),
    ],
)
def test_a_wrong_value_is_422_beside_its_field_and_changes_nothing(
    page: Client,
    ana: Any,
    name: str,
    value: str,
) -> None:
    answer = page.post("/settings/", {**CHOSEN, name: value})
    assert answer.status_code == 422
    assert f'id="id_{name}_error"' in answer.content.decode()
    assert 'data-theme="system"' in answer.content.decode()
    ana.refresh_from_db()
    assert (ana.display_name, ana.theme, ana.time_zone) == ("", "system", "UTC")
    assert not AuditEntry.objects.filter(tool_call="settings_changed").exists()


class TestWhoLooked:
    def test_the_owner_sees_who_opened_what(self, page: Client, ana: Any, olga: Any, ben: Any) -> None:
        at = timezone.now() - timedelta(hours=2)
        for kind, object_id in (("memory", "7"), ("prompt", ""), ("user_profile", ""), ("thing", "x")):
            AccessEntry.objects.create(at=at, viewer=olga, owner=ana, kind=kind, object_id=object_id)
        shown = page.get("/settings/").content.decode()
        assert shown.count("olga") == 4
        assert 'href="/memories/7/"' in shown
        assert "what the agent reads" in shown
        assert "olga" not in visitor(ben).get("/settings/").content.decode()

    def test_nobody_looked_says_so(self, page: Client) -> None:
        assert "No one but you." in page.get("/settings/").content.decode()

    def test_support_owns_nothing_that_could_be_looked_at(self, sam: Any) -> None:
        support = visitor(sam)
        assert "Who looked at your data" not in support.get("/settings/").content.decode()
        assert support.post("/settings/", CHOSEN).status_code == 303
        assert User.objects.get(pk=sam.pk).display_name == "Ana B"
