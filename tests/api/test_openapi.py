"""The OpenAPI document, frozen. After a wanted change: `python -m tests.api.document` writes it anew."""

from collections import defaultdict

import pytest
from pydantic import BaseModel

from tests.api.document import FROZEN, current_document, text_of
from tests.kit.api import Agent
from tests.kit.site import APPS


@pytest.mark.django_db
def test_is_the_one_that_callers_know() -> None:
    assert text_of(current_document()) == FROZEN.read_text(), "after a wanted change run: python -m tests.api.document"


@pytest.mark.django_db
def test_names_the_bearer_key_on_every_operation() -> None:
    document = current_document()
    [scheme] = document["components"]["securitySchemes"].values()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation.get("security"), f"{method} {path}"
            assert operation.get("summary"), f"{method} {path}"
            assert operation.get("tags"), f"{method} {path}"


@pytest.mark.django_db
def test_says_how_every_operation_fails(stranger: Agent) -> None:
    document = current_document()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert {"4XX", "5XX"} <= set(operation["responses"]), f"{method} {path}"
    described = set(document["components"]["schemas"]["ProblemDocument"]["properties"])
    assert described == {*stranger.get("/v1/memory").json(), "current"}


def test_no_two_shapes_share_a_name() -> None:
    """The later one would stand in the document for both."""
    places = defaultdict(set)
    for each in descendants(BaseModel):
        if each.__module__.startswith(APPS) and "[" not in each.__name__:
            places[each.__name__].add(each.__module__)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def descendants(base: type[BaseModel]) -> set[type[BaseModel]]:
    """Return every class that is made of this one."""
    return {each for child in base.__subclasses__() for each in (child, *descendants(child))}
