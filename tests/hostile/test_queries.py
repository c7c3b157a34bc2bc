"""Every text in every parameter of every page and operation: an answer, never a fault (W-19, W-20, W-21).

That a text is never part of a statement is read off the statements: what is not there cannot delay or change anything.
"""

from collections import Counter
from itertools import count
from urllib.parse import quote

import pytest
from django.http import HttpResponse
from django.urls import Resolver404, resolve

from tests.contracts.sweep import captured
from tests.hostile.inputs import ODD_TEXTS, injections, naughty, sample, texts
from tests.hostile.knock import Knocker, api_routes, names_of, pages_for_get, path_of, whom_it_opens_to
from tests.kit.tables import table
from tests.kit.world import BENS, World

COMMON = ("cursor", "sort", "next", "nobody_knows")
GETS = [route for _method, route in api_routes("GET")]
LISTS = ("/v1/memory", "/v1/memory/search", "/v1/user-profile", "/memories/", "/search/", "/memories/trash/")
SHORTEST = 20  # characters of a text that is looked for in statements: a shorter one may stand there by itself
BEYOND, PAGES_A_NAME = ("a\0", "9" * 22), 3
ON_THE_PAGE = 8  # of the search corpus the page, which asks the same service as the API, is sent every eighth


def get_bound(caller: Knocker, path: str, params: dict[str, str]) -> HttpResponse:
    """Ask, and fail when a text became part of a statement instead of one of its values."""
    with captured() as statements:
        answer = caller.get(path, params)
    long = [text for pair in params.items() for text in pair if len(text.strip()) >= SHORTEST]
    assert not [text for text in long if any(text in sql for sql in statements)], (path, params)
    return answer


def parameters_of(caller: Knocker, route: str, world: World, *common: str) -> list[tuple[str, str]]:
    """Return the path of a page or an operation with each parameter that it knows, and these."""
    path = path_of(route, world)
    return [(path, name) for name in sorted({*names_of(caller, route, path), *common})]


def test_operations_answer(world: World, ana_key: Knocker, share: int) -> None:
    """Each text meets some parameter."""
    asked = [pair for route in GETS for pair in parameters_of(ana_key, route, world, "nobody_knows")]
    for number, (path, name) in enumerate(asked):
        for text in texts(number, share=share, among=len(asked)):
            answer = get_bound(ana_key, path, {name: text})
            assert BENS.encode() not in answer.content, (path, name, text)
    assert ana_key.failed() == []


def test_pages_answer(world: World, ana_page: Knocker, olga_page: Knocker, share: int) -> None:
    """An operator sends where Ana may not, and sees Ben's rows there."""
    seeds = count()
    for route in pages_for_get():
        caller = whom_it_opens_to(path_of(route, world), ana_page, olga_page)
        for path, name in parameters_of(caller, route, world, *COMMON):
            for text in texts(next(seeds), share=share):
                answer = get_bound(caller, path, {name: text})
                assert caller is olga_page or BENS.encode() not in answer.content, (path, name, text)
        assert caller.failed() == []


@pytest.mark.database
def test_what_no_column_holds_is_an_answer_too(world: World, ana_page: Knocker, olga_page: Knocker) -> None:
    """PostgreSQL refuses a NUL and numbers beyond its columns, where SQLite takes them. A name is tried on few pages."""
    tried: Counter[str] = Counter()
    for route in pages_for_get():
        caller = whom_it_opens_to(path_of(route, world), ana_page, olga_page)
        for path, name in parameters_of(caller, route, world):
            tried[name] += 1
            for text in BEYOND if tried[name] <= PAGES_A_NAME else ():
                caller.get(path, {name: text})
    assert ana_page.faults + olga_page.faults == []


@pytest.mark.database
def test_the_search_of_api_and_page_answers_every_row(world: World, ana_key: Knocker, ana_page: Knocker) -> None:
    for number, text in enumerate((*ODD_TEXTS, *naughty())):
        answers = [get_bound(ana_key, "/v1/memory/search", {"q": text})]
        if number % ON_THE_PAGE == 0:
            answers.append(get_bound(ana_page, "/search/", {"q": text}))
        for answer in answers:
            assert answer.status_code in {200, 422}, (text, answer.status_code)
            assert BENS.encode() not in answer.content, text
    assert ana_key.faults == ana_page.faults == []


@pytest.mark.database
@table("path", LISTS)
def test_injections_as_names_and_values_do_nothing(
    world: World,
    ana_key: Knocker,
    ana_page: Knocker,
    path: str,
    share: int,
) -> None:
    caller = ana_key if path.startswith("/v1/") else ana_page
    for number, text in enumerate(sample(injections(), len(path), share=share)):
        name = ("sort", "cursor", "category", "state", "direction", "order_by")[number % 6]
        for params in ({name: text}, {text: "1"}, {"q": "common", name: text}):
            answer = get_bound(caller, path, params)
            assert answer.status_code in {200, 400, 422}
            assert BENS.encode() not in answer.content
    assert caller.failed() == []


MANY = (
    [("q", "a")] * 500,
    [(f"p{n}", "x") for n in range(500)],
    [("state", "live"), ("state", "deleted")],
    [("", "")],
    [("q", "x" * 60_000)],
)


def test_many_and_repeated_parameters(world: World, ana_page: Knocker, olga_page: Knocker, share: int) -> None:
    for number, route in enumerate(pages_for_get()):
        path = path_of(route, world)
        caller = whom_it_opens_to(path, ana_page, olga_page)
        for query in sample(MANY, number, share=len(MANY) if share > 1 else 1):
            caller.get(path, query)
    assert ana_page.faults == olga_page.faults == []


def test_an_address_that_leads_nowhere_is_404(world: World, ana_page: Knocker, stranger: Knocker, share: int) -> None:
    for text in sample(naughty(), 0, share=share):
        path = "/" + text.lstrip("/")
        try:
            resolve(path)
        except Resolver404:
            for caller in (ana_page, stranger):
                assert caller.call("GET", quote(path)).status_code in {301, 302, 404}, text
    assert ana_page.faults == stranger.faults == []
