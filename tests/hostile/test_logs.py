"""What callers send cannot forge a log line, and what is private never reaches one (W-12, W-24)."""

import logging
from collections.abc import Callable

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import RequestFactory

from minara_site.kernel.logs import logging_config
from minara_site.web.request_log import RequestLogMiddleware
from tests.hostile.knock import Knocker
from tests.kit.tables import table
from tests.kit.world import World

CANARY = "canaryinthelog"
FORGED = "%0a2026-01-01T00:00:00Z%20%5berror%5d%20forged%1b%5b31m%0d%0aforged"


@pytest.fixture(params=[True, False], ids=["json", "console"])
def lines(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Return the log as it is written, in each of its formats."""
    config = logging_config("DEBUG", as_json=request.param)["formatters"]["line"]
    make = config.pop("()")
    formatter = make(**config)
    caplog.set_level(logging.DEBUG)
    return lambda: [formatter.format(record) for record in caplog.records]


def test_a_line_stays_one_line(
    world: World,
    ana_page: Knocker,
    stranger: Knocker,
    lines: Callable[[], list[str]],
) -> None:
    for caller in (ana_page, stranger):
        for path in (
            f"/{FORGED}",
            f"/v1/{FORGED}",
            "/v1/%1b%5b31mred",
            f"/memories/{FORGED}/",
            f"/login?next={FORGED}",
            f"/user-profile/{FORGED}/edit/",
        ):
            caller.call("GET", path)
            caller.call(
                "POST",
                path,
                b"a=b",
                "application/x-www-form-urlencoded",
                Origin="http://evil\x1b[31m",
                Referer="http://evil\x1b[31m",
            )
            caller.call("GET", path, X_Request_ID="a\x1b[31m")
            caller.call("GET", path, Host="evil\x1b[31m")
    found = lines()
    assert found
    assert [line for line in found if "\n" in line.rstrip("\n")] == []
    assert [line for line in found if "\x1b" in line or "\r" in line] == []


def test_what_people_type_is_not_logged(
    world: World,
    ana_page: Knocker,
    ana_key: Knocker,
    stranger: Knocker,
    lines: Callable[[], list[str]],
) -> None:
    for path in ("/memories/", "/search/", "/v1/memory/search", "/v1/memory", "/nowhere/"):
        caller = ana_key if path.startswith("/v1/") else ana_page
        caller.get(path, {"q": CANARY, "sort": CANARY, "limit": CANARY})
    ana_key.call("POST", "/v1/memory", f'{{"statement": "{CANARY}"}}'.encode(), "application/json")
    ana_key.call("POST", "/v1/memory", f'{{"statement": "{CANARY}", "x": 1}}'.encode(), "application/json")
    stranger.post_form("/login", {"login": CANARY, "password": CANARY})
    stranger.call("GET", "/v1/memory", Authorization=f"Bearer mnr_live_{CANARY}")
    stranger.call("GET", "/v1/memory", Authorization=ana_key.headers["Authorization"][:-1] + "x")
    stranger.call("GET", "/", Cookie=f"{settings.SESSION_COOKIE_NAME}={CANARY}")
    secret = ana_key.headers["Authorization"].split("_")[-1]
    assert [line for line in lines() if CANARY in line or secret in line] == []


@table(("status", "levels"), [(302, []), (404, ["INFO"]), (499, ["INFO"]), (500, ["WARNING"]), (503, ["WARNING"])])
def test_only_a_fault_of_ours_calls_for_a_look(
    rf: RequestFactory,
    caplog: pytest.LogCaptureFixture,
    status: int,
    levels: list[str],
) -> None:
    caplog.set_level(logging.INFO)
    RequestLogMiddleware(lambda _request: HttpResponse(status=status))(rf.get("/"))
    assert [record.levelname for record in caplog.records] == levels
