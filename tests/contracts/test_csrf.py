"""No other site acts with a person's cookies, and no reading changes anything (trust W-05; ASVS 5.0 3.5.1, 3.5.3)."""

import pytest
from django.db import transaction
from django.middleware.csrf import _get_new_csrf_string

from tests.contracts.bodies import body_of
from tests.contracts.permissions import OPEN, OPERATIONS, PAGES, REFUSED, UNKNOWN
from tests.kit.world import FORM_TYPE, Wire, changed_tables, database_rows, fill

UNSAFE = [
    ("POST", route)
    for route, row in PAGES.items()
    if row.act
    and "POST" in row.methods
    and row.methods["POST"]["ana"] is not UNKNOWN  # there cookies count for nothing
] + [(method, route) for method, route in (name.split(" /") for name in OPERATIONS) if method != "GET"]
SAFE = sorted(
    {route for route, row in PAGES.items() if "GET" in row.methods}
    | {name.split(" /")[1] for name in OPERATIONS if name.startswith("GET")}
)
OWN_ACCOUNT = ("login", "logout", "mfa", "reauthenticate", "settings/", "first-steps/")
STRICT = Wire(enforce_csrf_checks=True)


def audience(method, route):
    """Return who may do it."""
    return PAGES[route].methods[method] if route in PAGES else OPERATIONS[f"{method} /{route}"][1]


def send(world, method, route, headers, content_type=""):
    """Send Ana's cookies, or the operator's, and a valid body from a browser that checks CSRF like real ones."""
    samples = world.ana.samples
    sender = "olga" if audience(method, route)["ana"] is REFUSED else "ana"
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


@pytest.mark.parametrize(("method", "route"), UNSAFE)
def test_a_forged_call_is_refused_and_does_nothing(world, method, route):
    before = database_rows()
    for name, (headers, content_type) in forgeries(route).items():
        response = send(world, method, route, headers, content_type)
        assert response.status_code == 403, name
        if route.startswith("v1/"):
            assert response.json()["code"] == "csrf", name
    assert changed_tables(before, database_rows()) == []


@pytest.mark.parametrize(("method", "route"), UNSAFE)
def test_a_genuine_call_passes(world, method, route):
    token = _get_new_csrf_string()
    headers = {"Cookie": f"minara-csrf={token}", "X-CSRFToken": token, "Origin": "http://testserver"}
    with transaction.atomic():
        assert send(world, method, route, headers).status_code not in {401, 403}
        transaction.set_rollback(True)


@pytest.mark.parametrize("route", SAFE)
def test_reading_changes_nothing(world, route):
    before = database_rows()
    for caller in ("ana", "key_agent", "anonymous"):
        for method in ("GET", "HEAD", "OPTIONS"):
            response = world.callers[caller].call(method, fill(route, world.ana.samples))
            assert response.status_code < 500
            assert changed_tables(before, database_rows()) == [], f"{method} as {caller}"


def test_support_staff_change_nothing_at_all(world):
    """Every door with every method that could change something, but for their own account (trust W-04)."""
    before = database_rows()
    own = {route for method, route in UNSAFE if audience(method, route)["sam"] is OPEN}
    assert all(route.startswith(OWN_ACCOUNT) for route in own)
    routes = {route for _method, route in UNSAFE} | {*SAFE}
    for route in sorted(routes - own):
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            response = world.callers["sam"].call(
                method, fill(route, world.ana.samples), body_of(method, route, world.ana.samples)
            )
            assert response.status_code in {403, 404, 405}, f"{method} {route}"
    assert changed_tables(before, database_rows()) == []
