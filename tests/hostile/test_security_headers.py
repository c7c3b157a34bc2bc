"""What the sweep over pages and operations does not reach: failures tell an id and nothing from inside (W-07, W-30)."""

from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from minara_site import urls
from minara_site.access.policy import Act
from minara_site.shell.pages import page
from tests.contracts.judges import HEADERS, POLICY
from tests.hostile.knock import Knocker
from tests.kit.tables import table
from tests.kit.world import World

SECRET = "s3cret-of-the-inside"
handler400, handler403, handler404, handler500 = urls.handler400, urls.handler403, urls.handler404, urls.handler500


def raise_inside(request: HttpRequest) -> HttpResponse:
    """Fail with a local, a message and a chained cause that nobody outside may read."""
    password = SECRET
    try:
        raise KeyError(password)
    except KeyError as error:
        raise RuntimeError(f"cannot use {password}") from error


@page(Act.HOME)
def raise_on_page(request: HttpRequest) -> HttpResponse:
    """Fail behind the guard of a page."""
    return raise_inside(request)


urlpatterns = [
    path("boom/", raise_inside),
    path("v1/boom", raise_inside),
    path("boom-page/", raise_on_page),
    path("", include(urls)),
]


def assert_guarded(answer: HttpResponse) -> None:
    """Check the policy headers of an answer."""
    assert {part.strip() for part in answer["Content-Security-Policy"].split(";")} == POLICY
    assert HEADERS.items() <= dict(answer.headers).items()


def assert_personal(answer: HttpResponse) -> None:
    """Check the headers that keep an answer out of caches, on top of those of every answer."""
    assert_guarded(answer)
    assert "no-store" in answer["Cache-Control"]
    assert {"HX-Request", "Cookie"} <= {part.strip() for part in answer["Vary"].split(",")}
    assert answer["X-Request-ID"]


@table(
    ("method", "where"),
    [("GET", "/nowhere/"), ("GET", "/v1/nowhere"), ("GET", "/login"), ("PUT", "/login"), ("GET", "/memories"), ("GET", "/healthz"), ("GET", "/readyz"),
     ("POST", "/healthz"), ("GET", "/v1/docs"), ("GET", "/v1/openapi.json"), ("GET", "/static/nowhere.css"), ("PUT", "/v1/memory")],
)  # fmt: skip
def test_failures_redirects_and_documents(world: World, stranger: Knocker, method: str, where: str) -> None:
    assert_personal(stranger.call(method, where))


def test_a_refused_host_and_a_large_body(world: World, stranger: Knocker) -> None:
    for where in ("/", "/v1/memory"):
        assert_personal(stranger.call("GET", where, Host="evil.example"))
        assert_personal(stranger.call("POST", where, b"x" * (1024 * 1024 + 1)))


def test_static_files(settings: Any, tmp_path: Any) -> None:
    from whitenoise.middleware import WhiteNoiseMiddleware

    (tmp_path / "a.css").write_text("a{}")
    settings.STATIC_ROOT = tmp_path
    assert WhiteNoiseMiddleware  # served before the session and the database are looked at
    answer = Client().get("/static/a.css")
    assert answer.status_code == 200
    assert_guarded(answer)


@pytest.mark.urls(__name__)
class TestAFault:
    @pytest.fixture
    def browser(self, world: World) -> Client:
        return Client(raise_request_exception=False, headers=world.callers["ana"].headers)

    @table("where", ["/boom/", "/boom-page/"])
    def test_of_a_page_shows_an_id_and_nothing_from_inside(self, browser: Client, where: str) -> None:
        answer = browser.get(where)
        html = answer.content.decode()
        assert answer.status_code == 500
        assert answer["X-Request-ID"] in html
        for word in (
            SECRET,
            "RuntimeError",
            "KeyError",
            "Traceback",
            "raise_inside",
            "test_security_headers",
            "DJANGO",
            "/work/",
            ".py",
        ):
            assert word not in html
        assert_guarded(answer)

    def test_of_a_fragment_is_a_block(self, browser: Client) -> None:
        answer = browser.get("/boom-page/", headers={"HX-Request": "true"})
        assert answer.status_code == 500
        assert SECRET not in answer.content.decode()

    def test_of_the_api_is_a_problem(self, browser: Client) -> None:
        answer = browser.get("/v1/boom")
        problem = answer.json()
        assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
        assert problem["request_id"] == answer["X-Request-ID"]
        assert SECRET not in answer.content.decode()
        assert_guarded(answer)

    def test_is_in_the_log_under_its_id(self, browser: Client, caplog: pytest.LogCaptureFixture) -> None:
        answer = browser.get("/boom/")
        assert any(answer["X-Request-ID"] in str(record.msg) for record in caplog.records)


class TestAFormWithoutToken:
    def test_says_what_to_do(self, world: World) -> None:
        browser = Client(enforce_csrf_checks=True, headers=world.callers["ana"].headers)
        for where in ("/settings/theme/", "/settings/keys/new/", "/logout"):
            answer = browser.post(where, {"theme": "dark"})
            assert answer.status_code == 403
            assert "CSRF" not in answer.content.decode()
            assert "Reload the page" in answer.content.decode()
            assert_guarded(answer)
