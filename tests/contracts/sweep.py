"""Asks every page and every operation once as each class of caller, and keeps what came back for the judges."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.db import connections
from django.http import HttpResponse

from tests.contracts.bodies import body_of
from tests.contracts.permissions import (
    FAILED,
    METHODS,
    MISSING,
    NO_METHOD,
    OPEN,
    OPERATIONS,
    PAGES,
    REFUSED,
    SIGN_IN,
    TOOLS,
    UNKNOWN,
    Outcome,
)
from tests.kit.tables import taken_back
from tests.kit.world import World, fill

SAFE = ("GET", "HEAD", "OPTIONS")
ROUTES = (*PAGES, *sorted({name.split(" /")[1] for name in OPERATIONS}))
# What access/policy.py tells apart: who is signed in, whose object it is, and what a key may do. Disabled people and
# keys that ended are strangers to it: `make soak` asks as everybody.
CLASSES = ("anonymous", "ana", "ben", "sam", "olga", "key_read", "key_write", "key_operator")
SIGNED_IN = {"ana", "ben", "sam", "olga"}
STATUS = {
    HTTPStatus.UNAUTHORIZED: UNKNOWN,
    HTTPStatus.FORBIDDEN: REFUSED,
    HTTPStatus.NOT_FOUND: MISSING,
    HTTPStatus.METHOD_NOT_ALLOWED: NO_METHOD,
}


@dataclass(frozen=True)
class Visit:
    """One request, what the table expects of it, what came back, and the SQL that it took on any database."""

    caller: str
    method: str
    route: str
    expected: Outcome
    response: HttpResponse
    statements: list[str]

    @property
    def name(self) -> str:
        """Return how a fault names it."""
        return f"{self.method} /{self.route} as {self.caller}"

    @property
    def reads(self) -> bool:
        """Say whether the method may change nothing."""
        return self.method in SAFE

    @property
    def text(self) -> str:
        """Return the body as text; a file that is streamed has none."""
        return "" if self.response.streaming else self.response.content.decode(errors="replace")


@contextmanager
def captured() -> Iterator[list[str]]:
    """Collect the SQL of every database."""
    statements: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        statements.append(sql)
        return execute(sql, params, many, context)

    with ExitStack() as stack:
        for alias in connections:
            stack.enter_context(connections[alias].execute_wrapper(note))
        yield statements


def expected(caller: str, method: str, route: str) -> Outcome:
    """Return what the permission table says."""
    if route in PAGES:
        methods = PAGES[route].methods
        return methods[method][caller] if method in methods else NO_METHOD
    row = OPERATIONS.get(f"{method} /{route}")
    return row[1][caller] if row else NO_METHOD


def outcome(response: HttpResponse, caller: str) -> Outcome:
    """Name what the caller met; only a stranger is ever sent to sign in, others go there by signing out."""
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return FAILED
    away = urlsplit(response.headers.get("Location", "")).path
    if away == "/login" and caller not in SIGNED_IN:
        return SIGN_IN
    return STATUS.get(HTTPStatus(response.status_code), OPEN)


def visit(world: World, caller: str, method: str, route: str, **more: Any) -> Visit:
    """Ask once, about Ana's objects, and roll back what it changed; what a read changes stays, for all to see."""
    samples = world.ana.samples | more
    with ExitStack() as stack:
        for alias in connections if method not in SAFE else ():
            stack.enter_context(taken_back(alias))
        statements = stack.enter_context(captured())
        response = world.callers[caller].call(method, fill(route, samples), body_of(method, route, samples))
        if response.streaming:
            response = HttpResponse(
                b"".join(response),
                status=response.status_code,
                headers=dict(response.headers),
            )
    wanted = TOOLS[more["name"]][1][caller] if "name" in more else expected(caller, method, route)
    return Visit(caller, method, route, wanted, response, statements)


def visits(world: World, caller: str, *, named: bool) -> Iterator[Visit]:
    """Ask as this caller: with the safe methods and those that the table names, or with all the others, which are 405."""
    for route in ROUTES:
        for method in METHODS:
            if named is (method in SAFE or expected(caller, method, route) is not NO_METHOD):
                yield visit(world, caller, method, route)
    for tool in TOOLS if named else ():
        yield visit(world, caller, "POST", "v1/tools/{name}", name=tool)
