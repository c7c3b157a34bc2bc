"""Ana never meets anything of Ben's: not by id, not in a list, count, search, cursor, bulk act or error (trust W-02).

That no plain look shows his canary, the judges say of every answer; here are the looks that try to.
"""

import json
import re
from itertools import product

import pytest
import time_machine
from django.utils import timezone

from memory_app.edges.models import MemoryEdge
from memory_app.facts.models import ConsolidationEvent
from memory_app.memories.models import FactConflict
from memory_app.search.models import SearchLogEntry
from minara_site.access.models import User
from minara_site.access.policy import POLICY, Role
from tests.contracts.bodies import body_of
from tests.contracts.judges import writes_in
from tests.contracts.permissions import OPERATIONS, PAGES
from tests.contracts.sweep import captured
from tests.hostile.knock import names_of
from tests.kit.rows import all_rows
from tests.kit.tables import Faults, table, taken_back
from tests.kit.world import BENS, BENS_WORD, MISSING_ID, fill, parameters, review_samples

OWNED = {
    "memory_id",
    "deleted_id",
    "version",
    "batch",
    "session_id",
    "key",
    "prefix",
    "factor_id",
    "user_id",
    "sign_in_id",
    "hold_id",
    "review_key",
    "review_items",
    "conflict_id",
    "entry_id",
    "case_id",
    "trade_uid",
    "trip_id",
    "ledger_key",
    "institution_uid",
    "content_hash",
    "deployment_id",
    "snapshot_id",
    "preference_id",
    "event_id",
    "tag_event_id",
    "export_id",
    "import_id",
}
MISSING = {
    "memory_id": MISSING_ID,
    "deleted_id": MISSING_ID,
    "version": 1,
    "batch": "f" * 32,
    "session_id": "sess_" + "x" * 22,
    "key": f"{BENS}_none",
    "prefix": "zzzzzzzz",
    "factor_id": MISSING_ID,
    "user_id": MISSING_ID,
    "sign_in_id": MISSING_ID,
    "hold_id": MISSING_ID,
    "review_kind": "hold",
    **review_samples(MISSING_ID),
    "conflict_id": MISSING_ID,
    "kind": "keep_both",
    "older_id": MISSING_ID,
    "newer_id": MISSING_ID,
    "entry_id": MISSING_ID,
    "case_id": MISSING_ID,
    "trade_uid": "no-such-trade",
    "trip_id": MISSING_ID,
    "ledger_key": MISSING_ID,
    "trade_source": "accounts",
    "institution_uid": "no-such-run",
    "content_hash": "0" * 16,
    "deployment_id": "no-such-agent",
    "snapshot_id": MISSING_ID,
    "preference_id": MISSING_ID,
    "event_id": MISSING_ID,
    "tag_event_id": MISSING_ID,
    "export_id": MISSING_ID,
    "import_id": MISSING_ID,
    "entry_stamp": "2026-06-12T12:00:00+00:00",
    "step": "hidden",
    "token": "x" * 43,
    "name": "memory_read",
}
CHANGING = re.compile(
    r'name="(?:csrfmiddlewaretoken|once)" value="[\w-]+"|"X-CSRFToken": "\w+"|&quot;X-CSRFToken&quot;: &quot;\w+|'
    r"\b[0-9a-f]{32}\b|\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)"
)
DOORS = [(method, route) for route, row in PAGES.items() for method in row.methods] + [
    (name.split(" /")[0], name.split(" /")[1]) for name in OPERATIONS
]
BY_ID = [(method, route) for method, route in DOORS if OWNED & {*parameters(route)}]
READS = sorted({route for method, route in DOORS if method == "GET"})
CALLERS = ("ana", "key_agent")


def callers(route):
    """Name the ways in which Ana reaches a page or an operation."""
    return CALLERS if route.startswith("v1/") else CALLERS[:1]


def answer(world, caller, door, samples, query=""):
    """Return status, headers and body without what differs between any two calls."""
    method, route = door
    place = ask(fill(route, samples), query)
    response = world.callers[caller].call(method, place, body_of(method, route, samples))
    headers = {
        name: value for name, value in response.headers.items() if name not in {"Content-Length", "X-Request-ID"}
    }
    texts = [CHANGING.sub("", text) for text in (json.dumps(headers), response.content.decode())]
    for name in OWNED & {*parameters(route)} - {"version"}:
        place = "/" if str(samples[name]).isdigit() else ""  # a bare number may stand in any drawing
        texts = [text.replace(f"{place}{samples[name]}", "…") for text in texts]
    return response.status_code, *texts


def ask(address, query):
    """Return an address with one more query, whatever it asks for already."""
    return address + (query.replace("?", "&") if "?" in address else query)


def rows_of_ben():
    """Return every stored row that carries Ben's canary."""
    return {
        table: found
        for table, rows in all_rows().items()
        if (found := [row for row in rows.values() if BENS in repr(row)])
    }


def test_ben_has_something_in_every_owned_table(world):
    assert {
        "memories",
        "memory_revisions",
        "search_document",
        "user_profile",
        "sessions",
        "conversation_turns",
        "session_snapshots",
        "api_keys",
        "access_user",
        "bundle_transfers",
    } <= rows_of_ben().keys()
    assert SearchLogEntry.objects.filter(query__contains=BENS).exists()  # in a file of its own
    for rows in (FactConflict, ConsolidationEvent, MemoryEdge):
        assert rows.objects.filter(owner=world.ben.user).exists()


@table(("method", "route"), BY_ID)
def test_a_foreign_object_answers_exactly_like_a_missing_one(world, method, route):
    """The same status, headers and body, after as many statements, none of which writes."""
    for caller in callers(route):
        answers, works, wrote = [], [], []
        for samples in (world.ben.samples, MISSING):
            with taken_back("default"), captured() as statements:
                answers.append(answer(world, caller, (method, route), samples))
            works.append(len(statements))
            wrote = wrote or writes_in(statements)
        foreign, missing = answers
        assert foreign == missing, f"as {caller}"
        assert works[0] == works[1], f"as {caller}: other work for a foreign object"
        assert BENS not in foreign[2].replace(f"{BENS}_none", "")
        assert wrote == [] or foreign[0] < 400, f"as {caller}"


QUERIES = (
    "",
    f"?q={BENS_WORD}",
    "?q=common+word",
    f"?q={BENS_WORD[:4]}*",
    "?q=position+OR+owner:u2",
    "?q=zone&limit=200",
    "?state=deleted",
    "?state=held",
    "?category=personalization",
    "?owner=ben",
    "?owner=all",
    "?source=user_manual&explain=1&q=common",
    "?q=common&as_of=2099-01-01&fusion=rrf",
    "?entity=BTC",
    "?entity=BTC&owner=ben",
    "?state=conflicts",
    "?hard_constraints=0&owner=ben",
)


@pytest.mark.parametrize("caller", CALLERS)
def test_nothing_that_ana_reads_shows_bens_canary(world, caller):
    """Each query is sent where one of its names is known, or says whose rows are meant."""
    faults = Faults()
    for route in (route for route in READS if caller in callers(route)):
        known = {"owner", *names_of(world.callers[caller], route, fill(route, world.ana.samples))}
        for query in (query for query in QUERIES if not query or known & set(re.findall(r"(\w+)=", query))):
            with faults.row(f"{route}{query}"):
                status, headers, body = answer(world, caller, ("GET", route), world.ana.samples, query)
                assert status < 500
                assert BENS not in body
                assert BENS not in headers
    faults.show()


@pytest.mark.parametrize("caller", CALLERS)
def test_nothing_that_ana_reads_tells_that_ben_exists(world, caller):
    """Lists, counts and facets are the same bytes with and without Ben's data; search ranks are in the search tests."""
    routes = [route for route in READS if caller in callers(route)]
    with time_machine.travel(timezone.now(), tick=False):
        seen = {route: answer(world, caller, ("GET", route), world.ana.samples) for route in routes}
        User.objects.get(pk=world.ben.user.pk).delete()
        now = {route: answer(world, caller, ("GET", route), world.ana.samples) for route in routes}
    assert [route for route in routes if seen[route] != now[route]] == []


LISTS = [
    name.split(" /")[1]
    for name, (act, _audience) in OPERATIONS.items()
    if name.startswith("GET") and not parameters(name) and Role.USER in POLICY[act].roles
]


def test_a_cursor_of_bens_list_shows_nothing_of_his(world):
    faults, tried = Faults(), []
    for route, owner in product(LISTS, ("ben", "ana")):
        words = "&q=common" if "search" in route else ""
        address = fill(route, {})
        data = world.callers[owner].call("GET", ask(address, f"?limit=1{words}")).json().get("data")
        cursor = data.get("next_cursor") if isinstance(data, dict) else None
        if cursor:
            tried.append(route)
            with faults.row(f"{route} with a cursor of {owner}"):
                response = world.callers["key_read"].call("GET", ask(address, f"?limit=200&cursor={cursor}{words}"))
                assert BENS not in response.content.decode()
    faults.show()
    assert len(tried) >= 8, tried


@table(("caller", "action"), [(caller, action) for caller in CALLERS for action in ("delete", "restore")])
def test_a_bulk_act_with_one_foreign_id_changes_nothing(world, caller, action):
    own, bodies = world.ana.memory_ids[:9], []
    with captured() as statements:
        for last in (world.ben.samples["memory_id"], MISSING_ID):
            body = json.dumps({"action": action, "ids": [*own, last]})
            response = world.callers[caller].call("POST", "/v1/memory/bulk", body)
            bodies.append((response.status_code, CHANGING.sub("", response.content.decode())))
    assert bodies[0] == bodies[1]
    assert bodies[0][0] == 404
    assert writes_in(statements) == []
