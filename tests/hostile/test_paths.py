"""Ids that no row has, in every path: 404 or 400, the same as for a missing row, never a fault."""

from django.test import Client

from tests.contracts.bodies import body_of
from tests.hostile.inputs import PATH_NUMBERS, PATH_TEXTS, RAW_PATHS, sample
from tests.hostile.knock import Knocker, api_routes, hostile_paths, pages_for_get, pages_for_post
from tests.kit.tables import table
from tests.kit.world import FORM_TYPE, World, parameters

SOME = 8  # of the odd ids each page is sent some, so that together they are sent all
GONE = {301, 303, 400, 404, 405, 410, 422}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
OPERATIONS = [(method, route) for method, route in api_routes(*METHODS) if parameters(route)]
PAGES = [("GET", route) for route in pages_for_get() if parameters(route)] + [
    ("POST", route) for route in pages_for_post() if parameters(route)
]


@table(("method", "route"), OPERATIONS)
def test_operations(world: World, ana_key: Knocker, method: str, route: str, share: int) -> None:
    body = (body_of(method, route, world.ana.samples) or "{}").encode() if method != "GET" else b""
    numbers = PATH_NUMBERS if ":" in route else PATH_TEXTS + PATH_NUMBERS
    some = sample(numbers, sum(map(ord, route)), share=SOME // 2 if share > 1 else 1)
    for path in hostile_paths(route, world, some):
        answer = ana_key.call(method, path, body, "application/json")
        assert answer.status_code in GONE | {200, 201, 403}, (path[:100], answer.status_code)
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json"
    assert ana_key.failed() == []


@table(("method", "route"), PAGES)
def test_pages(
    world: World,
    ana_page: Knocker,
    olga_page: Knocker,
    method: str,
    route: str,
    share: int,
) -> None:
    fields = body_of(method, route, world.ana.samples) or ""
    values = sample(PATH_NUMBERS + PATH_TEXTS, sum(map(ord, route)), share=SOME if share > 1 else 1)
    body = (fields.encode(), FORM_TYPE) if method == "POST" else (b"", "")
    for caller in (ana_page, olga_page):
        for path in hostile_paths(route, world, values):
            answer = caller.call(method, path, *body)
            assert answer.status_code in GONE | {403}, (path[:100], answer.status_code)
        assert caller.failed() == []


@table("raw", RAW_PATHS)
def test_bytes_that_are_no_text(world: World, ana_page: Knocker, ana_key: Knocker, raw: str) -> None:
    """The test client decodes paths itself, so these go in below it, as the web server hands them over."""
    for prefix in (
        "/",
        "/memories/",
        "/search/",
        "/static/",
        "/welcome/",
        "/settings/keys/",
        "/v1/",
        "/v1/memory/",
        "/v1/tools/",
        "/v1/user-profile/",
    ):
        caller = ana_key if prefix.startswith("/v1/") else ana_page
        for query in ("", f"q={raw}", f"{raw}={raw}", f"cursor={raw}&state={raw}"):
            answer = caller.call("GET", f"{prefix}{raw}?{query}")
            assert answer.status_code < 500, (prefix, raw, query)
    assert ana_page.faults == ana_key.faults == []


@table(
    "path",
    [
        "/static/../settings.py",
        "/static/%2e%2e/manage.py",
        "/static/css/../../manage.py",
        "/static/%00",
        "//evil.example",
        "/%5c%5cevil.example",
        "/./",
        "/../",
    ],
)
def test_nothing_outside_is_served_or_redirected_to(client: Client, db: None, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in {301, 302, 400, 404}
    assert b"DJANGO_SETTINGS_MODULE" not in answer.content
    assert not answer.headers.get("Location", "/").startswith(("//", "http", "/\\"))
