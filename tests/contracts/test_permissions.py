"""Every page and operation x every class of caller x every method: one request each, every judge (trust W-01 to W-08)."""

from collections.abc import Iterable
from typing import Any

import pytest

from minara_site.agent import catalogue
from tests.contracts.doors import operations, pages
from tests.contracts.judges import LOGS, faults_of
from tests.contracts.permissions import OPERATIONS, PAGES, PRINCIPALS, TOOLS
from tests.contracts.sweep import CLASSES, outcome, visit, visits
from tests.kit.rows import all_rows, changed_tables
from tests.kit.world import World

ENDED = ("disabled", "key_revoked", "key_expired")


def test_the_table_names_every_page_operation_and_tool_with_its_act() -> None:
    assert {page.route for page in pages()} == set(PAGES)
    guarded = {page.route: (page.act, page.methods) for page in pages() if PAGES[page.route].act}
    assert guarded == {route: (row.act, frozenset(row.methods)) for route, row in PAGES.items() if row.act}
    assert {each.name: each.act for each in operations()} == {name: act for name, (act, _) in OPERATIONS.items()}
    assert {tool.name: tool.act for tool in catalogue.load_tools().values()} == {
        name: act for name, (act, _) in TOOLS.items()
    }


def in_soak(names: Iterable[str]) -> list[Any]:
    """Return the rows that only `make soak` runs."""
    return [pytest.param(name, marks=pytest.mark.soak) for name in names]


@pytest.mark.parametrize("caller", [*CLASSES, *in_soak(name for name in PRINCIPALS if name not in CLASSES)])
def test_every_answer_passes_every_judge(world: World, caller: str) -> None:
    before = all_rows(without=LOGS)
    faults = [fault for each in visits(world, caller, named=True) for fault in faults_of(each)]
    assert faults == [], "\n".join(faults)
    assert changed_tables(before, all_rows(without=LOGS)) == set()


@pytest.mark.parametrize("caller", ["key_agent", *in_soak(name for name in PRINCIPALS if name != "key_agent")])
def test_a_method_that_no_row_names_is_405(world: World, caller: str) -> None:
    faults = [fault for each in visits(world, caller, named=False) for fault in faults_of(each)]
    assert faults == [], "\n".join(faults)


def test_who_ended_is_a_stranger(world: World) -> None:
    """Disabled people, revoked and expired keys: the policy never hears of them."""
    for caller in ENDED:
        for method, route in (
            ("GET", "memories/"),
            ("GET", "v1/memory"),
            ("POST", "mcp"),
            ("POST", "v1/tools/{name}"),
        ):
            each = visit(world, caller, method, route)
            assert outcome(each.response, caller) is each.expected, each.name
