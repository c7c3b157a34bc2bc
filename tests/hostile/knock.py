"""Calls to every door of the project, and what came back."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.test import Client

from minara_site.api import api
from tests.contracts.doors import operations, pages
from tests.hostile.markup import Markup
from tests.kit.world import World, fill, parameters


@dataclass
class Knocker:
    """Somebody who calls and keeps count of what failed. Whatever a call changes is taken back."""

    headers: dict[str, str]
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))
    faults: list[str] = field(default_factory=list)

    def call(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        content_type: str = "",
        **headers: str,
    ) -> HttpResponse:
        """Call once; a 5xx answer is kept as a fault."""
        self.client.cookies.clear()
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        with transaction.atomic():
            answer = self.client.generic(method, path, body, content_type, headers=sent)
            if answer.streaming:  # a file that is written while it is sent can fail late
                answer = HttpResponse(
                    b"".join(answer),
                    status=answer.status_code,
                    headers=dict(answer.headers),
                )
            transaction.set_rollback(True)
        if answer.status_code >= 500:
            error = repr(answer.exc_info[1]) if getattr(answer, "exc_info", None) else answer.content[:200]
            self.faults.append(f"{answer.status_code} {method} {path[:200]} {body[:100]!r} {error}")
        return answer

    def failed(self) -> list[str]:
        """Return what failed since somebody asked."""
        faults, self.faults = self.faults, []
        return faults

    def get(self, path: str, params: Any = (), **headers: str) -> HttpResponse:
        """Ask for a page with these parameters."""
        query = urlencode(params, errors="surrogatepass")
        return self.call("GET", f"{path}?{query}" if query else path, **headers)

    def post_form(self, path: str, fields: dict[str, Any], **headers: str) -> HttpResponse:
        """Send a form."""
        body = urlencode(fields, doseq=True, errors="surrogatepass").encode()
        return self.call("POST", path, body, "application/x-www-form-urlencoded", **headers)


def whom_it_opens_to(path: str, *callers: Knocker) -> Knocker:
    """Return the first caller whom a page does not refuse, else the last."""
    return next(
        (caller for caller in callers if caller.get(path).status_code not in {302, 403, 404}),
        callers[-1],
    )


def names_of(caller: Any, route: str, path: str) -> tuple[str, ...]:
    """Return the query parameters of a page or a read: what the OpenAPI document names, or what the page links to or
    looks up, alone and beside those that it looks up first.
    """
    if route.startswith("v1/") and (route := "/" + re.sub(r"{\w+:", "{", route)) in documented_paths():
        operation = documented_paths()[route]["get"]
        return tuple(each["name"] for each in operation.get("parameters", ()) if each["in"] == "query")
    with looked_up() as names:
        answer = caller.call("GET", path)
        caller.call("GET", f"{path}?{urlencode(dict.fromkeys(names, '1'))}")
    is_page = "html" in answer.headers.get("Content-Type", "")
    return tuple(sorted(names | (Markup(answer.content.decode()).names if is_page else set())))


@contextmanager
def looked_up() -> Iterator[set[str]]:
    """Collect the names that anybody looks up in a query."""
    names: set[str] = set()

    def noting(usual: Any) -> Any:
        def look_up(query: QueryDict, name: str, *more: Any, **rest: Any) -> Any:
            names.add(name)
            return usual(query, name, *more, **rest)

        return look_up

    with pytest.MonkeyPatch.context() as patch:
        for method in ("__contains__", "__getitem__", "get", "getlist"):
            patch.setattr(QueryDict, method, noting(getattr(QueryDict, method)))
        yield names


@cache
def documented_paths() -> dict[str, Any]:
    """Return the paths of the OpenAPI document."""
    return dict(api.get_openapi_schema()["paths"])


def pages_for_get() -> list[str]:
    """Return the routes of every page that can be asked for, files and documents apart."""
    return sorted(page.route for page in pages() if "GET" in page.methods)


def pages_for_post() -> list[str]:
    """Return the routes of every page that takes a form."""
    return sorted(page.route for page in pages() if "POST" in page.methods)


def api_routes(*methods: str) -> list[tuple[str, str]]:
    """Return method and route of every API operation with one of these methods."""
    return sorted((operation.method, operation.route) for operation in operations() if operation.method in methods)


def path_of(route: str, world: World, **values: Any) -> str:
    """Return the path of a route for Ana's objects, with these values instead."""
    return fill(route, world.ana.samples | values)


def hostile_paths(route: str, world: World, values: tuple[str, ...]) -> Iterator[str]:
    """Yield the path with each value in the place of each parameter, one at a time; `values` are quoted here."""
    for name in parameters(route):
        for value in values:
            yield path_of(route, world, **{name: quote(value, safe="")})
