"""Walks every door of the project: the pages of the URL resolver and the operations of the API."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from minara_site.access.policy import Act
from minara_site.api import api

API = "v1/"


@dataclass(frozen=True)
class Page:
    """A route of the resolver. `act` and `methods` are what its guard says, None without a guard."""

    route: str
    act: Act | None
    methods: frozenset[str]


@dataclass(frozen=True)
class Operation:
    """A method of an API path. `act` is what its guard says, None without one."""

    method: str
    route: str
    act: Act | None
    views: Any

    @property
    def name(self) -> str:
        """Return how the table calls it."""
        return f"{self.method} /{self.route}"


def walk(
    patterns: list[URLPattern | URLResolver],
    prefix: str = "",
    space: str = "",
) -> Iterator[tuple[str, Any, str]]:
    """Yield every route with its view and the name of its address."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from walk(pattern.url_patterns, route, f"{space}{pattern.namespace}:" if pattern.namespace else space)
        else:
            yield route, pattern.callback, f"{space}{pattern.name}"


def forms() -> dict[str, str]:
    """Return the routes of pages to which a form is sent, by the name of their address."""
    found = walk(get_resolver().url_patterns)
    return {name: route for route, view, name in found if "POST" in getattr(view, "methods", ()) and route != "mcp"}


def pages() -> list[Page]:
    """Return every route that is no API operation."""
    operated = {operation.route.replace("{", "<").replace("}", ">") for operation in operations()}
    found = {
        route: Page(route, getattr(view, "act", None), getattr(view, "methods", frozenset()))
        for route, view, _name in walk(get_resolver().url_patterns)
        if route not in operated
    }
    return list(found.values())


def operations() -> list[Operation]:
    """Return every operation of the API."""
    return [
        Operation(method, API + path.lstrip("/"), guard_of(operation), operation)
        for router in api._get_bound_routers()
        for path, view in router.path_operations.items()
        for operation in view.operations
        for method in operation.methods
    ]


def guard_of(operation: Any) -> Act | None:
    """Return the act that an operation's auth asks for."""
    acts = [getattr(auth, "act", None) for auth in operation.auth_callbacks]
    return acts[0] if len(acts) == 1 else None
