"""Every door x every principal x every method does what the table says (trust W-01; ASVS 5.0 8.2.1, 8.3.1)."""

from http import HTTPStatus
from urllib.parse import urlsplit

import pytest
from django.db import transaction

from minara_site.agent import catalogue
from tests.contracts.bodies import body_of
from tests.contracts.doors import operations, pages
from tests.contracts.permissions import (
    FAILED,
    METHODS,
    MISSING,
    NO_METHOD,
    OPEN,
    OPERATIONS,
    PAGES,
    PRINCIPALS,
    REFUSED,
    SIGN_IN,
    TOOLS,
    UNKNOWN,
)
from tests.kit.world import fill

STATUS = {
    HTTPStatus.UNAUTHORIZED: UNKNOWN,
    HTTPStatus.FORBIDDEN: REFUSED,
    HTTPStatus.NOT_FOUND: MISSING,
    HTTPStatus.METHOD_NOT_ALLOWED: NO_METHOD,
}
SIGNED_IN = {"ana", "ben", "sam", "olga"}


def outcome(response, principal):
    """Name what the caller met; only a stranger is ever sent to sign in, others go there by signing out."""
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return FAILED
    away = urlsplit(response.headers.get("Location", "")).path
    if away == "/login" and principal not in SIGNED_IN:
        return SIGN_IN
    return STATUS.get(response.status_code, OPEN)


def meet(world, principal, method, route, **more):
    """Knock once, and take back what it changed."""
    samples = world.ana.samples | more
    with transaction.atomic():
        response = world.callers[principal].call(method, fill(route, samples), body_of(method, route, samples))
        transaction.set_rollback(True)
    return outcome(response, principal)


def check(world, route, expected, methods=METHODS, **more):
    """Fail with every cell of a route that is not as written."""
    different = [
        f"{method} {route} as {principal}: {met}, the table says {wanted}"
        for method in methods
        for principal in PRINCIPALS
        if (met := meet(world, principal, method, route, **more)) != (wanted := expected(method, principal))
    ]
    assert not different, "\n".join(different)


def test_the_table_names_every_page_and_no_other():
    assert {page.route for page in pages()} == set(PAGES)


def test_the_table_names_every_operation_and_no_other():
    assert {operation.name for operation in operations()} == set(OPERATIONS)


def test_every_page_is_guarded_by_the_act_of_the_table():
    guarded = {page.route: (page.act, page.methods) for page in pages() if PAGES[page.route].act}
    assert guarded == {route: (row.act, frozenset(row.methods)) for route, row in PAGES.items() if row.act}


def test_every_operation_is_guarded_by_the_act_of_the_table():
    assert {operation.name: operation.act for operation in operations()} == {
        name: act for name, (act, _) in OPERATIONS.items()
    }


def test_the_table_names_every_tool_and_the_act_it_asks_for():
    assert {tool.name: tool.act for tool in catalogue.TOOLS.values()} == {name: act for name, (act, _) in TOOLS.items()}


@pytest.mark.parametrize("route", PAGES)
def test_a_page_meets_everybody_as_written(world, route):
    row = PAGES[route]

    def expected(method, principal):
        return row.methods[method][principal] if method in row.methods else NO_METHOD

    check(world, route, expected)


@pytest.mark.parametrize("route", sorted({name.split(" /")[1] for name in OPERATIONS}))
def test_an_operation_meets_everybody_as_written(world, route):
    def expected(method, principal):
        row = OPERATIONS.get(f"{method} /{route}")
        return row[1][principal] if row else NO_METHOD

    check(world, route, expected)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_meets_everybody_as_written(world, name):
    check(world, "v1/tools/{name}", lambda _method, principal: TOOLS[name][1][principal], ("POST",), name=name)
