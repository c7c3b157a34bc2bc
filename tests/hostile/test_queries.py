"""Every text in every parameter of every page and operation: an answer, never a fault (W-19, W-20, W-21)."""

import re
import time
from urllib.parse import quote

import pytest
from django.http import HttpResponse
from django.urls import Resolver404, resolve

from minara_site.api import api
from tests.hostile.inputs import ODD_TEXTS, injections, naughty, sample, texts
from tests.hostile.knock import Knocker, api_routes, pages_for_get, path_of, whom_it_opens_to
from tests.hostile.markup import Markup
from tests.kit.world import BENS, World

COMMON = ("cursor", "sort", "next", "nobody_knows")
GETS = [route for _method, route in api_routes("GET")]
LISTS = ("/v1/memory", "/v1/memory/search", "/v1/user-profile", "/memories/", "/search/", "/memories/trash/")
SLOWEST_SECONDS = 2.0  # a delay that an injection caused would be longer


def declared_parameters(route: str) -> tuple[str, ...]:
    """Return the query parameters that the OpenAPI document names for an operation."""
    operation = api.get_openapi_schema()["paths"]["/" + re.sub(r"{\w+:", "{", route)]["get"]
    return tuple(each["name"] for each in operation.get("parameters", ()) if each["in"] == "query")


def get_timed(caller: Knocker, path: str, params: dict[str, str]) -> tuple[HttpResponse, bool]:
    """Return the answer, and whether it was slow twice: a busy machine is so once, an injected delay each time."""
    for _ in range(2):
        begun = time.monotonic()
        answer = caller.get(path, params)
        if time.monotonic() - begun <= SLOWEST_SECONDS:
            return answer, False
    return answer, True


def send_all(caller: Knocker, path: str, names: tuple[str, ...], share: int, *, hidden: str = BENS) -> None:
    """Send texts in each parameter, and fail with every fault and every slow answer."""
    slow = []
    for seed, name in enumerate(names, start=len(path)):
        for text in texts(seed, share=share):
            answer, is_slow = get_timed(caller, path, {name: text})
            if is_slow:
                slow.append(f"{path}?{name}={text[:60]}")
            assert not hidden or hidden.encode() not in answer.content, (path, name, text)
    assert caller.faults == []
    assert slow == []


@pytest.mark.parametrize("route", GETS)
def test_operations_answer(world: World, ana_key: Knocker, route: str, share: int) -> None:
    send_all(
        ana_key, path_of(route, world), (*declared_parameters(route), "nobody_knows"), share * 2 if share > 1 else 1
    )


@pytest.mark.parametrize("route", pages_for_get())
def test_pages_answer(world: World, ana_page: Knocker, olga_page: Knocker, route: str, share: int) -> None:
    """An operator sends where Ana may not, and sees Ben's rows there."""
    path = path_of(route, world)
    caller = whom_it_opens_to(path, ana_page, olga_page)
    known = Markup(caller.get(path).content.decode()).names
    names = tuple(sorted({*COMMON, *known}))
    send_all(caller, path, names, share * 12 if share > 1 else 1, hidden=BENS if caller is ana_page else "")


def test_the_search_of_api_and_page_answers_every_row(world: World, ana_key: Knocker, ana_page: Knocker) -> None:
    for text in (*ODD_TEXTS, *naughty()):
        for answer in (ana_key.get("/v1/memory/search", {"q": text}), ana_page.get("/search/", {"q": text})):
            assert answer.status_code in {200, 422}, (text, answer.status_code)
            assert BENS.encode() not in answer.content, text
    assert ana_key.faults == ana_page.faults == []


@pytest.mark.parametrize("path", LISTS)
def test_injections_as_names_and_values_do_nothing(
    world: World, ana_key: Knocker, ana_page: Knocker, path: str, share: int
) -> None:
    caller = ana_key if path.startswith("/v1/") else ana_page
    for number, text in enumerate(sample(injections(), len(path), share=share)):
        name = ("sort", "cursor", "category", "state", "direction", "order_by")[number % 6]
        for params in ({name: text}, {text: "1"}, {"q": "common", name: text}):
            answer, is_slow = get_timed(caller, path, params)
            assert answer.status_code in {200, 400, 422}
            assert BENS.encode() not in answer.content
            assert not is_slow, text
    assert caller.faults == []


@pytest.mark.parametrize("route", pages_for_get())
def test_many_and_repeated_parameters(world: World, ana_page: Knocker, olga_page: Knocker, route: str) -> None:
    path = path_of(route, world)
    caller = whom_it_opens_to(path, ana_page, olga_page)
    for query in (
        [("q", "a")] * 500,
        [(f"p{n}", "x") for n in range(500)],
        [("state", "live"), ("state", "deleted")],
        [("", "")],
        [("q", "x" * 60_000)],
    ):
        caller.get(path, query)
    assert caller.faults == []


def test_an_address_that_leads_nowhere_is_404(world: World, ana_page: Knocker, stranger: Knocker, share: int) -> None:
    for text in sample(naughty(), 0, share=share):
        path = "/" + text.lstrip("/")
        try:
            resolve(path)
        except Resolver404:
            for caller in (ana_page, stranger):
                assert caller.call("GET", quote(path)).status_code in {301, 302, 404}, text
    assert ana_page.faults == stranger.faults == []
