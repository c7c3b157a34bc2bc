"""Signing in and out."""

import pytest

from minara_site.access.models import User
from tests.kit.tables import table

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
FOREIGN = [
    "https://evil.example",
    "https://evil.example/",
    "http://evil.example/memories/",
    "//evil.example",
    "///evil.example",
    "////evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " //evil.example",
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "ftp://evil.example/",
    "https:evil.example",
    "https:/evil.example",
    "http:///evil.example",
    "http://testserver@evil.example/",
    "http://testserver.evil.example/",
    "http://evil.example#testserver",
    "http://evil.example\\@testserver/",
    "http://[::1]/",
    "http://[::1",
    "http://127.0.0.1:8000/",
    "http://localhost/",
    "http://127.0.0.1/",
    "https://0x7f000001/",
    "http://testserver:81/",
]


def sign_in(client, username="ana", password=PASSWORD, **more):
    return client.post("/login", {"login": username, "password": password, **more})


class TestSigningIn:
    def test_takes_name_and_password(self, client, ana):
        response = sign_in(client)
        assert (response.status_code, response["Location"]) == (302, "/")
        assert client.session["_auth_user_id"] == str(ana.pk)
        client.logout()
        assert sign_in(client, "ANA").status_code == 302  # the name in any case

    def test_takes_a_new_session_key(self, client, ana):
        client.get("/login")
        session = client.session
        session["before"] = True
        session.save()
        client.cookies["minara-session"] = session.session_key
        sign_in(client)
        assert client.session.session_key != session.session_key

    def test_lasts_14_days(self, client, ana):
        sign_in(client)
        assert client.cookies["minara-session"]["max-age"] == 14 * 24 * 3600

    def test_goes_where_the_person_was_headed(self, client, ana):
        assert "/memories/?q=a" in client.get("/login", {"next": "/memories/?q=a"}).content.decode()
        assert sign_in(client, next="/memories/?q=a")["Location"] == "/memories/?q=a"

    @table("address", FOREIGN)
    def test_never_leads_elsewhere(self, client, ana, address):
        page = client.get("/login", {"next": address})
        assert page.status_code == 200
        assert sign_in(client, next=address)["Location"] == "/"
        assert client.get("/login", {"next": address})["Location"] == "/"

    def test_notes_the_visit(self, client, ana):
        sign_in(client)
        first = User.objects.get(pk=ana.pk)
        assert first.previous_visit_at is None
        client.post("/logout")
        sign_in(client)
        second = User.objects.get(pk=ana.pk)
        assert second.previous_visit_at == first.last_visit_at < second.last_visit_at


class TestRefusing:
    def text(self, response):
        assert response.status_code == 422
        return response.content.decode().split('callout-alarm" role="alert"')[1].split("</div>")[0]

    def test_says_the_same_for_every_reason(self, client, ana, ben):
        ben.is_active = False
        ben.save()
        reasons = [
            sign_in(client, password="wrong"),
            sign_in(client, "nobody"),
            sign_in(client, "ben"),
            sign_in(client, "default"),
        ]
        assert len({self.text(response) for response in reasons}) == 1
        assert "do not match" in self.text(reasons[0])
        assert "_auth_user_id" not in client.session

    @table("name", ["a\0b", "x" * 10_000, "", "%00", "李"])
    def test_survives_odd_names(self, client, name):
        assert sign_in(client, name).status_code == 422

    def test_offers_no_other_way_in(self, client):
        for path in ("/signup", "/accounts/signup/", "/accounts/login/", "/password/reset/", "/inactive/"):
            assert client.get(path).status_code == 404

    def test_answers_pages_only(self, client, ana):
        response = client.post("/login", {"login": "ana", "password": "wrong"}, headers={"Accept": "application/json"})
        assert response["Content-Type"].startswith("text/html")


class TestSigningOut:
    def test_ends_the_session(self, client, ana):
        client.force_login(ana)
        key = client.session.session_key
        response = client.post("/logout")
        assert (response.status_code, response["Location"]) == (302, "/login")
        client.cookies["minara-session"] = key
        assert client.get("/settings/keys/").status_code == 302

    def test_leads_nowhere_else(self, client, ana):
        client.force_login(ana)
        assert client.post("/logout", {"next": "https://evil.example"})["Location"] == "/login"
