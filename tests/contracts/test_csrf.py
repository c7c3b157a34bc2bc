"""No other site acts with a person's cookies (trust W-05; ASVS 5.0 3.5.1, 3.5.3). That reading writes nothing, judges say."""

import pytest
from django.middleware.csrf import _get_new_csrf_string

from tests.contracts.bodies import body_of
from tests.contracts.judges import writes_in
from tests.contracts.permissions import OPERATIONS, PAGES, REFUSED, UNKNOWN
from tests.contracts.sweep import captured, expected
from tests.kit.tables import table
from tests.kit.world import FORM_TYPE, Wire, World, fill

UNSAFE = [
    ("POST", route)
    for route, row in PAGES.items()
    if row.act
    and "POST" in row.methods
    and row.methods["POST"]["ana"] is not UNKNOWN  # there cookies count for nothing
] + [(method, route) for method, route in (name.split(" /") for name in OPERATIONS) if method != "GET"]
STRICT = Wire(enforce_csrf_checks=True)
ALWAYS = ("no token, our cookie", "a foreign origin")


def send(world, method, route, headers, content_type=""):
    """Send Ana's cookies, or those of staff, and a valid body from a browser that checks CSRF like real ones."""
    samples = world.ana.samples
    sender = next(name for name in ("ana", "olga", "sam") if expected(name, method, route) is not REFUSED)
    body = body_of(method, route, samples) or ("{}" if route.startswith("v1/") else "a=b")
    cookies = world.callers[sender].headers["Cookie"]
    sent = {"If-Match": '"2"', **headers, "Cookie": f"{cookies}; {headers.get('Cookie', '')}"}
    return STRICT.send(method, fill(route, samples), body, content_type, **sent)


def forgeries(route):
    """Return what another site can send, by name."""
    ours, theirs = _get_new_csrf_string(), _get_new_csrf_string()
    cookie = {"Cookie": f"minara-csrf={ours}"}
    forged = {
        "no token": ({}, ""),
        "no token, our cookie": (cookie, ""),
        "another session's token": ({**cookie, "X-CSRFToken": theirs}, ""),
        "a foreign origin": ({**cookie, "X-CSRFToken": ours, "Origin": "https://evil.example"}, ""),
        "no origin at all": ({**cookie, "X-CSRFToken": ours, "Origin": "null"}, ""),
        "text/plain": (cookie, "text/plain"),
    }
    if route.startswith("v1/"):
        forged["text/plain with the token"] = ({**cookie, "X-CSRFToken": ours}, "text/plain")
        forged["a form with the token"] = ({**cookie, "X-CSRFToken": ours}, FORM_TYPE)
    return forged


def some_of(forged, number):
    """Return what every page meets, and another one of the rest for each page."""
    rest = [name for name in forged if name not in ALWAYS]
    return {name: forged[name] for name in (*ALWAYS, rest[number % len(rest)])}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_forged_call_is_refused_and_does_nothing(world: World, every: bool) -> None:
    faults = []
    for number, (method, route) in enumerate(UNSAFE):
        forged = forgeries(route)
        for name, (headers, content_type) in (forged if every else some_of(forged, number)).items():
            with captured() as statements:
                response = send(world, method, route, headers, content_type)
            is_named = not route.startswith("v1/") or response.json().get("code") == "csrf"
            if response.status_code != 403 or not is_named or writes_in(statements):
                faults.append(f"{method} /{route}, {name}: {response.status_code} {writes_in(statements)}")
    assert faults == []


@table(("method", "route"), UNSAFE)
def test_a_genuine_call_passes(world, method, route):
    token = _get_new_csrf_string()
    headers = {"Cookie": f"minara-csrf={token}", "X-CSRFToken": token, "Origin": "http://testserver"}
    assert send(world, method, route, headers).status_code not in {401, 403}
