"""What every app declares in a list module of its own, found by the module's name.

The jobs of an app are the constant `JOBS` of its `jobs.py`, its audit acts `ACTS` of `acts.py`, and so on. An app that
has a room of that name, such as the kernel with its room `jobs`, has the list in `jobs_list.py`. A list module
imports whatever room it needs; this one imports none, so it is the lowest of the kernel and any room may ask it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from django.apps import apps

Facet = TypeVar("Facet")


@dataclass(frozen=True)
class Kind:
    """A table, by the name that holds and changes keep, with what its room declares of it for readers: its facets."""

    name: str
    facets: tuple[Any, ...]


@cache
def load(name: str) -> dict[str, Any]:
    """Return what the list modules of this name declare, by `name`, in the apps' order. ValueError when two share one.

    Every app must be loaded before it is called.
    """
    found: dict[str, Any] = {}
    declared_by: dict[str, str] = {}
    for app, each in iterate_declared(name):
        if each.name in found:
            raise ValueError(f"{declared_by[each.name]} and {app} both declare {each.name} in {name.upper()}.")
        found[each.name], declared_by[each.name] = each, app
    return found


def iterate_declared(name: str) -> Iterator[tuple[str, Any]]:
    """Yield the name of an installed app with each thing that its list module declares."""
    for app in apps.get_app_configs():
        for module in (f"{app.name}.{name}", f"{app.name}.{name}_list"):
            for each in getattr(import_module(module), name.upper(), ()) if find_spec(module) else ():
                yield app.name, each


def facets(wanted: type[Facet]) -> list[Facet]:
    """Return what the kinds of all apps declare for the reader whose class of facet this is, in the apps' order."""
    declared = (getattr(kind, "facets", (kind,)) for kind in load("kinds").values())
    return [facet for each in declared for facet in each if isinstance(facet, wanted)]
