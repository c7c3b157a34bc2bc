"""Who may call the API, with what."""

import pytest
from django.middleware.csrf import _get_new_csrf_string
from django.test import Client
from django.utils import timezone

from minara_site.access.keys.services import create_key
from minara_site.access.policy import Scope
from tests.kit.tables import table
from tests.kit.visitor import visitor

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.access.guarded_urls")]
API = "/guarded/api"
TOKEN = _get_new_csrf_string()


@pytest.fixture
def key(ana):
    return create_key(user=ana, scopes=[Scope.MEMORY_READ], now=timezone.now(), actor="test")


def bearer(key):
    return {"Authorization": f"Bearer {key.text}"}


def code(response):
    return response.status_code, response.json().get("code")


class TestKeys:
    def test_open_what_their_scopes_name(self, client, key):
        assert client.get(f"{API}/read", headers=bearer(key)).json() == {"actor": f"key:{key.prefix}", "user": "ana"}
        assert code(client.delete(f"{API}/write", headers=bearer(key))) == (403, "missing_scope")

    def test_are_checked_before_the_body_is_read(self, client, key):
        answer = client.post(f"{API}/write", "no json", "application/json", headers=bearer(key))
        assert code(answer) == (403, "missing_scope")
        assert code(client.post(f"{API}/write", "no json", "application/json")) == (401, "unauthenticated")

    def test_ignore_cookies(self, ben, key):
        browser = visitor(ben)
        assert browser.get(f"{API}/read").json()["user"] == "ben"
        assert browser.get(f"{API}/read", headers=bearer(key)).json()["user"] == "ana"
        assert code(browser.get(f"{API}/read", headers={"Authorization": "Bearer nonsense"})) == (401, "key_unknown")
        assert code(browser.get(f"{API}/read", headers={"Authorization": "bearer"})) == (401, "key_unknown")

    def test_need_no_csrf_token(self, ana):
        writer = create_key(user=ana, scopes=[Scope.MEMORY_WRITE], now=timezone.now(), actor="test")
        strict = Client(enforce_csrf_checks=True)
        assert strict.post(f"{API}/write", "{}", "application/json", headers=bearer(writer)).status_code == 200

    def test_cost_one_query(self, client, key, django_assert_num_queries):
        client.get(f"{API}/who", headers=bearer(key))
        with django_assert_num_queries(1):
            assert client.get(f"{API}/who", headers=bearer(key)).status_code == 200


class TestBrowserSessions:
    @table(
        ("headers", "content_type"),
        [
            ({}, "application/json"),
            ({"X-CSRFToken": "a" * 32}, "application/json"),
            ({"X-CSRFToken": TOKEN, "Origin": "https://evil.example"}, "application/json"),
            ({"X-CSRFToken": TOKEN, "Origin": "null"}, "application/json"),
            ({"X-CSRFToken": TOKEN}, "text/plain"),
            ({"X-CSRFToken": TOKEN}, "application/x-www-form-urlencoded"),
            ({"X-CSRFToken": TOKEN}, "multipart/form-data; boundary=x"),
        ],
    )
    def test_write_json_with_their_token_and_in_no_other_way(self, ben, headers, content_type):
        browser = visitor(ben, enforce_csrf_checks=True)
        browser.cookies["minara-csrf"] = TOKEN
        assert code(browser.post(f"{API}/write", "{}", content_type, headers=headers)) == (403, "csrf")
        token = {"X-CSRFToken": TOKEN}
        assert browser.post(f"{API}/write", "{}", "application/json", headers=token).status_code == 200
        assert browser.delete(f"{API}/write", headers=token).status_code == 200
