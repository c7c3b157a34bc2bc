"""`/settings/security/password/`: a new password, and what is wrong with one."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from minara_site.access.invitations.services import renew_link
from minara_site.kernel.audit_log.models import AuditEntry
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
OLD, NEW = "correct horse battery", "staple of four plain words"


class TestPassword:
    def test_closes_links_by_which_another_could_be_set(self, client: Client, ana: Any) -> None:
        token = renew_link(username="ana", now=timezone.now(), actor="test").token
        client.force_login(ana)
        assert client.get(f"/invite/{token}/").status_code == 200
        client.post("/settings/security/password/", {"old_password": OLD, "new_password1": NEW, "new_password2": NEW})
        assert client.get(f"/invite/{token}/").status_code == 404

    def test_the_command_does_the_same(self, client: Client, ana: Any, monkeypatch: Any) -> None:
        token = renew_link(username="ana", now=timezone.now(), actor="test").token
        client.force_login(ana)
        monkeypatch.setattr("getpass.getpass", lambda **_asked: NEW)
        call_command("changepassword", "ana", stdout=StringIO())
        assert Client().login(username="ana", password=NEW)
        assert client.get(f"/invite/{token}/").status_code == 404
        assert client.get("/settings/").status_code == 302
        assert AuditEntry.objects.get(tool_call="password_changed").actor == "command:changepassword"

    @table(
        ("typed", "field"),
        [
            (("wrong", NEW, NEW), "old_password"),
            ((OLD, "q9z7", "q9z7"), "new_password2"),
            ((OLD, NEW, NEW + "x"), "new_password2"),
            ((OLD, "", ""), "new_password1"),
        ],
    )
    def test_a_wrong_one_is_422_beside_its_field(
        self,
        client: Client,
        ana: Any,
        typed: tuple[str, str, str],
        field: str,
    ) -> None:
        client.force_login(ana)
        answer = client.post(
            "/settings/security/password/",
            dict(zip(("old_password", "new_password1", "new_password2"), typed, strict=True)),
        )
        assert answer.status_code == 422
        page = answer.content.decode()
        assert f'id="id_{field}_error"' in page
        assert not any(text and text in page.split("<main")[1] for text in typed)
        ana.refresh_from_db()
        assert ana.check_password(OLD)
