"""`/settings/`: preferences that apply at once, and who looked."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from minara_site.access.models import AccessEntry, User
from minara_site.kernel.audit_log.models import AuditEntry
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
CHOSEN = {
    "display_name": "Ana B",
    "language": "",
    "time_zone": "Asia/Shanghai",
    "theme": "dark",
    "density": "compact",
    "shortcuts": "on",
}


def test_what_is_chosen_applies_to_the_next_page(client: Client, ana: Any) -> None:
    client.force_login(ana)
    answer = client.post("/settings/", CHOSEN)
    assert (answer.status_code, answer["Location"]) == (303, "/settings/")
    page = client.get("/settings/").content.decode()
    assert 'data-theme="dark"' in page
    assert 'data-density="compact"' in page
    assert 'data-shortcuts="on"' in page
    assert "Ana B" in page
    assert '<option value="Asia/Shanghai" selected>' in page
    entry = AuditEntry.objects.get(tool_call="settings_changed")
    assert entry.details == {"fields": ["density", "display_name", "theme", "time_zone"]}
    client.post("/settings/", {key: value for key, value in CHOSEN.items() if key != "shortcuts"})
    assert 'data-shortcuts="off"' in client.get("/settings/").content.decode()


def test_the_chosen_language_is_spoken(client: Client, ana: Any) -> None:
    client.force_login(ana)
    client.post("/settings/", {**CHOSEN, "language": "zh-hans"})
    answer = client.get("/settings/")
    assert answer["Content-Language"] == "zh-hans"
    assert "已保存。" in answer.content.decode()
    assert '<html lang="zh-Hans"' in answer.content.decode()


def test_saving_what_is_there_leaves_no_trace(client: Client, ana: Any) -> None:
    client.force_login(ana)
    for _twice in range(2):
        client.post("/settings/", CHOSEN)
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
    client: Client, ana: Any, name: str, value: str
) -> None:
    client.force_login(ana)
    answer = client.post("/settings/", {**CHOSEN, name: value})
    assert answer.status_code == 422
    assert f'id="id_{name}_error"' in answer.content.decode()
    assert 'data-theme="system"' in answer.content.decode()
    ana.refresh_from_db()
    assert (ana.display_name, ana.theme, ana.time_zone) == ("", "system", "UTC")
    assert not AuditEntry.objects.filter(tool_call="settings_changed").exists()


class TestWhoLooked:
    def test_the_owner_sees_who_opened_what(self, client: Client, ana: Any, olga: Any, ben: Any) -> None:
        at = timezone.now() - timedelta(hours=2)
        for kind, object_id in (("memory", "7"), ("prompt", ""), ("user_profile", ""), ("thing", "x")):
            AccessEntry.objects.create(at=at, viewer=olga, owner=ana, kind=kind, object_id=object_id)
        client.force_login(ana)
        page = client.get("/settings/").content.decode()
        assert page.count("olga") == 4
        assert 'href="/memories/7/"' in page
        assert "what the agent reads" in page
        client.force_login(ben)
        assert "olga" not in client.get("/settings/").content.decode()

    def test_nobody_looked_says_so(self, client: Client, ana: Any) -> None:
        client.force_login(ana)
        assert "No one but you." in client.get("/settings/").content.decode()

    def test_support_owns_nothing_that_could_be_looked_at(self, client: Client, sam: Any) -> None:
        client.force_login(sam)
        page = client.get("/settings/").content.decode()
        assert "Who looked at your data" not in page
        assert client.post("/settings/", CHOSEN).status_code == 303
        assert User.objects.get(pk=sam.pk).display_name == "Ana B"
