"""Who may call the API, with what."""

import pytest
from django.middleware.csrf import _get_new_csrf_string
from django.test import Client
from django.utils import timezone

from minara_site.access.keys.services import create_key, revoke_key
from minara_site.access.models import ApiKey
from minara_site.access.policy import Scope
from tests.kit.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.access.guarded_urls")]
API = "/guarded/api"


@pytest.fixture
def key(ana):
    return create_key(user=ana, scopes=[Scope.MEMORY_READ], now=timezone.now(), actor="test")


@pytest.fixture
def browser(ben):
    """Ben's browser, which checks CSRF as real ones are checked."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(ben)
    return client


def bearer(key):
    return {"Authorization": f"Bearer {key.text}"}


def csrf_of(client):
    secret = _get_new_csrf_string()
    client.cookies["minara-csrf"] = secret
    return secret


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

    def test_ignore_cookies(self, browser, key):
        assert browser.get(f"{API}/read").json()["user"] == "ben"
        assert browser.get(f"{API}/read", headers=bearer(key)).json()["user"] == "ana"
        assert code(browser.get(f"{API}/read", headers={"Authorization": "Bearer nonsense"})) == (401, "key_unknown")
        assert code(browser.get(f"{API}/read", headers={"Authorization": "bearer"})) == (401, "key_unknown")

    def test_need_no_csrf_token(self, ana, now):
        writer = create_key(user=ana, scopes=[Scope.MEMORY_WRITE], now=timezone.now(), actor="test")
        strict = Client(enforce_csrf_checks=True)
        assert strict.post(f"{API}/write", "{}", "application/json", headers=bearer(writer)).status_code == 200

    def test_cost_one_query(self, client, key, django_assert_num_queries):
        client.get(f"{API}/who", headers=bearer(key))
        with django_assert_num_queries(1):
            assert client.get(f"{API}/who", headers=bearer(key)).status_code == 200

    def test_close_at_once(self, client, key):
        assert client.get(f"{API}/who", headers=bearer(key)).status_code == 200
        revoke_key(prefix=key.prefix, now=timezone.now(), actor="test")
        assert code(client.get(f"{API}/who", headers=bearer(key))) == (401, "key_revoked")

    def test_are_bound_to_the_address_of_the_connection(self, client, key):
        ApiKey.objects.update(allowed_networks=["10.0.0.0/8"])
        assert client.get(f"{API}/who", headers=bearer(key), REMOTE_ADDR="10.0.0.9").status_code == 200
        forged = {**bearer(key), "X-Forwarded-For": "10.0.0.9", "X-Real-IP": "10.0.0.9"}
        assert code(client.get(f"{API}/who", headers=forged)) == (403, "key_network")


class TestBrowserSessions:
    def test_read(self, browser, ben):
        assert browser.get(f"{API}/read").json()["actor"] == f"user:{ben.pk}"

    def test_write_with_their_token(self, browser):
        headers = {"X-CSRFToken": csrf_of(browser)}
        assert browser.post(f"{API}/write", "{}", "application/json", headers=headers).status_code == 200
        assert browser.delete(f"{API}/write", headers=headers).status_code == 200

    @table(
        ("headers", "content_type"),
        [
            ({}, "application/json"),
            ({"X-CSRFToken": "a" * 32}, "application/json"),
            ({"Origin": "https://evil.example"}, "application/json"),
            ({"Origin": "null"}, "application/json"),
            ({}, "text/plain"),
            ({}, "application/x-www-form-urlencoded"),
            ({}, "multipart/form-data; boundary=x"),
        ],
    )
    def test_write_in_no_other_way(self, browser, headers, content_type):
        token = csrf_of(browser)
        if content_type != "application/json" or "Origin" in headers:
            headers = {"X-CSRFToken": token, **headers}
        assert code(browser.post(f"{API}/write", "{}", content_type, headers=headers)) == (403, "csrf")

    def test_end_with_their_user(self, browser, ben):
        ben.is_active = False
        ben.save()
        assert code(browser.get(f"{API}/who")) == (401, "unauthenticated")


def test_refuses_a_stranger(client):
    for method in ("GET", "DELETE"):
        path = f"{API}/read" if method == "GET" else f"{API}/write"
        assert code(client.generic(method, path)) == (401, "unauthenticated")
