"""Error answers: the same facts as page, as block for htmx and as problem+json, and nothing from inside (W-08, W-30)."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("test_site")]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def browser(ana: Any) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(ana)
    return client


KINDS = [
    ("missing", 404, "There is no such memory."),
    ("http404", 404, "The address is wrong"),
    ("conflict", 409, "Ana Ruiz saved revision 4"),
    ("throttled", 429, "Slow down."),
    ("suspicious", 400, "the link is broken"),
    ("database", 503, "Try again in a few seconds."),
    ("crash", 500, "Nothing was lost that had been saved."),
]


class TestPages:
    @table(("how", "status", "words"), KINDS)
    def test_says_what_happened_and_what_to_do(self, browser: Client, how: str, status: int, words: str) -> None:
        response = browser.get(f"/fail/{how}/", headers={"X-Request-ID": "req-7"})
        html = response.content.decode()
        assert response.status_code == status
        assert words in html
        assert "req-7" in html
        assert 'href="/"' in html

    @table(("how", "status", "words"), KINDS)
    def test_gives_htmx_a_readable_block(self, browser: Client, how: str, status: int, words: str) -> None:
        response = browser.get(f"/fail/{how}/", headers=HTMX)
        html = response.content.decode()
        assert response.status_code == status
        assert words in html
        assert "<html" not in html
        assert 'role="alert"' in html

    @table("how", ["crash", "database"])
    def test_a_failure_shows_no_internals(self, browser: Client, how: str) -> None:
        html = browser.get(f"/fail/{how}/").content.decode()
        assert "secret internals" not in html
        assert "Error" not in html
        assert "Traceback" not in html

    def test_a_failure_page_reads_no_database(self, browser: Client, rf: Any) -> None:
        from minara_site.web.errors import server_error

        with CaptureQueriesContext(connection) as queries:
            response = server_error(rf.get("/memories/"))
        assert len(queries) == 0
        assert response.status_code == 500

    def test_asks_to_come_back_when_the_database_was_away(self, browser: Client) -> None:
        assert browser.get("/fail/database/")["Retry-After"] == "5"

    def test_an_address_of_forms_says_so_when_it_is_opened(self, browser: Client) -> None:
        response = browser.get("/settings/theme/")
        assert (response.status_code, response["Allow"]) == (405, "POST")
        assert "Go to that page and use its button." in response.content.decode()

    def test_says_how_long_to_wait(self, browser: Client) -> None:
        response = browser.get("/fail/throttled/")
        assert response["Retry-After"] == "7"
        assert "Wait 7 seconds" in response.content.decode()

    def test_escapes_the_request_id(self, browser: Client) -> None:
        html = browser.get("/fail/http404/", headers={"X-Request-ID": "<script>alert(1)</script>"}).content.decode()
        assert "<script>alert" not in html

    @table("path", ["/nowhere/", "/fail/crash/", "/memories/", "/v1/nowhere"])
    def test_every_answer_carries_the_content_policy(self, browser: Client, path: str) -> None:
        policy = browser.get(path)["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy

    @table("path", ["/nowhere/", "/memories/"])
    def test_every_answer_stays_out_of_caches(self, browser: Client, path: str) -> None:
        response = browser.get(path)
        assert response["Cache-Control"] == "no-store"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Referrer-Policy"] == "same-origin"
        assert "camera=()" in response["Permissions-Policy"]


class TestCsrf:
    def test_a_form_without_token_says_what_to_do(self, ana: Any) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(ana)
        response = client.post("/memories/undo/")
        assert response.status_code == 403
        assert "Reload the page and send it again." in response.content.decode()


class TestMachines:
    def test_get_problem_documents(self, browser: Client) -> None:
        response = browser.get("/v1/nowhere", headers={"X-Request-ID": "req-9"})
        body = json.loads(response.content)
        assert response["Content-Type"] == "application/problem+json"
        assert body["ok"] is False
        assert (body["status"], body["code"], body["request_id"], body["errors"]) == (404, "not_found", "req-9", [])
        assert {"type", "title", "detail"} <= body.keys()

    @table(("path", "content_type"), [("/v1/memory", "problem+json"), ("/memories/", "html")])
    def test_a_large_body_is_refused_unread(self, browser: Client, path: str, content_type: str) -> None:
        response = browser.post(path, data="x" * (1024 * 1024 + 1), content_type="application/json")
        assert response.status_code == 413
        assert content_type in response["Content-Type"]

    def test_answer_in_english_whatever_the_browser_prefers(self, browser: Client) -> None:
        response = browser.get("/v1/nowhere", headers={"Accept-Language": "zh-hans"})
        assert json.loads(response.content)["title"] == "Nothing is here"


class TestSignIn:
    def test_a_stranger_is_sent_to_sign_in_and_back(self, client: Client) -> None:
        response = client.get("/memories/?q=a")
        assert response.status_code == 302
        assert "next=%2Fmemories%2F%3Fq%3Da" in response["Location"]

    def test_under_htmx_the_whole_window_goes_there(self, client: Client) -> None:
        response = client.get("/memories/", headers=HTMX)
        assert response.status_code == 200
        assert response["HX-Redirect"].startswith("/accounts/login/")
