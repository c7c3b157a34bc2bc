"""Headers and cookies that no browser sends: an answer, never a fault."""

from tests.hostile.inputs import HEADER_NAMES, HEADER_VALUES, sample
from tests.hostile.knock import Knocker
from tests.kit.tables import table
from tests.kit.world import World

PATHS = ("/", "/memories/", "/search/?q=a", "/login", "/healthz", "/v1/memory", "/v1/tools", "/nowhere/", "/v1/nowhere")


@table("name", HEADER_NAMES)
def test_every_header_survives_garbage(
    world: World,
    ana_page: Knocker,
    ana_key: Knocker,
    stranger: Knocker,
    name: str,
    share: int,
) -> None:
    for seed, path in enumerate(PATHS, start=sum(map(ord, name))):
        caller = ana_key if path.startswith("/v1/") else ana_page
        for value in sample(HEADER_VALUES, seed, share=share):
            headers = {name: value, **({"HX-Request": "true"} if name.startswith("HX-") else {})}
            caller.call("GET", path, **headers)
            stranger.call("GET", path, **headers)
            stranger.call("POST", path, b"a=b", "application/x-www-form-urlencoded", **headers)
            if path == "/v1/memory":
                caller.call("POST", path, b'{"statement": "Prefers bonds"}', "application/json", **headers)
        assert caller.failed() + stranger.failed() == []


@table(
    "value",
    [
        r'"\000aaaaaaaaaaaaaaaa"',
        r'"\377\376aaaaaaaaaaaaaa"',
        "a" * 4000,
        "'; DROP TABLE django_session--",
        "",
        '"',
        "é" * 20,
        r'"\012Set-Cookie: a=b"',
    ],
)
@table("name", ["minara-session", "minara-csrf", "django_language", "messages", "sessionid"])
def test_every_cookie_survives_garbage(world: World, stranger: Knocker, name: str, value: str) -> None:
    for path in ("/", "/login", "/memories/", "/v1/memory", "/healthz"):
        stranger.call("GET", path, Cookie=f"{name}={value}")
        stranger.call("POST", path, b"a=b", "application/x-www-form-urlencoded", Cookie=f"{name}={value}")
    assert stranger.failed() == []


@table("host", ["evil.example", "[::1", "a b", "127.0.0.1@evil.example", "x" * 300, "é", ""])
def test_a_foreign_host_is_refused_and_never_repeated(world: World, stranger: Knocker, host: str) -> None:
    for path in ("/", "/login", "/v1/memory", "/memories/?next=a"):
        answer = stranger.call("GET", path, Host=host)
        assert answer.status_code in {400, 401, 302}, host
        assert "evil" not in answer.headers.get("Location", "")
        assert b"evil.example" not in answer.content
    assert stranger.failed() == []


@table(
    "value",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "http:evil",
        "javascript:alert(1)",
        "http://[",
        "\u00a0//evil.example",
        "////evil.example",
    ],
)
def test_next_and_referrer_lead_nowhere_else(world: World, ana_page: Knocker, stranger: Knocker, value: str) -> None:
    answers = [
        stranger.get("/login", {"next": value}),
        stranger.post_form("/login", {"login": "ana", "password": "correct horse battery", "next": value}),
        ana_page.get("/login", {"next": value}),
        ana_page.post_form("/settings/theme/", {"theme": "dark", "next": value}),
        stranger.call("GET", "/memories/", HX_Request="true", HX_Current_URL=value),
        stranger.call("POST", "/memories/", b"", "", Referer=value),
    ]
    for answer in answers:
        target = answer.headers.get("Location", "") + answer.headers.get("HX-Redirect", "")
        assert "evil" not in target, target
        assert "javascript" not in target, target
    assert ana_page.failed() + stranger.failed() == []
