"""Bodies that are broken, too large or of the wrong shape: a clear 4xx from every operation, nothing stored (W-19)."""

import json

from tests.contracts.bodies import body_of
from tests.contracts.judges import writes_in
from tests.contracts.sweep import captured
from tests.hostile.inputs import ODD_VALUES, as_json, bodies, sample, texts
from tests.hostile.knock import Knocker, api_routes, path_of
from tests.kit.tables import table
from tests.kit.world import World

WRITES = api_routes("POST", "PUT", "PATCH")
EVERYTHING = api_routes("GET", "POST", "PUT", "PATCH", "DELETE")
MIB = 1024 * 1024
JSON = "application/json"
HARMLESS = {
    b"",
    b"null",
    b'{"category":null}',
    b'{"limit":"5"}',
}  # a session without a title, a read of every category, of five
DOCUMENT = "/workspace/{path:file_name}"
PADDED_TEXT = b'{"content":"%s"}' % (b"a" * 100)  # blanks follow: the whole text of a document, and of nothing else


OPERATIONS = [(number, method, route) for number, (method, route) in enumerate(WRITES)]
FIELDS = ("nobody_knows_this", "id", "owner", "owner_id", "source", "deleted_at", "version")
KINDS = (
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "application/json;;;",
    "x" * 300,
)
FIELDS_OF_EACH = 12  # or about so many
EVERY = 4  # of the broken bodies each operation reads some, so that together they read all


@table(("number", "method", "route"), OPERATIONS)
def test_what_is_no_json_is_refused(
    world: World,
    ana_key: Knocker,
    number: int,
    method: str,
    route: str,
    share: int,
) -> None:
    path = path_of(route, world)
    reads_no_body = body_of(method, route, world.ana.samples) is None
    for body in sample(bodies(), number, share=EVERY if share > 1 else 1):
        with captured() as statements:
            answer = ana_key.call(method, path, body, JSON)
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json", body[:80]
            assert answer.json()["detail"]
            assert writes_in(statements) == [], body[:80]
        else:
            is_document = (method, body.rstrip()) == ("PUT", PADDED_TEXT) and route.endswith(DOCUMENT)
            assert reads_no_body or is_document or body in HARMLESS, body[:80]
    assert ana_key.failed() == []


@table(("number", "method", "route"), OPERATIONS)
def test_every_field_survives_every_odd_value(
    world: World,
    ana_key: Knocker,
    number: int,
    method: str,
    route: str,
    share: int,
) -> None:
    path, valid = path_of(route, world), body_of(method, route, world.ana.samples)
    if valid is None:
        return
    body = json.loads(valid)
    for place, name in enumerate((*body, *FIELDS), start=number * FIELDS_OF_EACH):
        odd = sample(ODD_VALUES, place, share=EVERY if share > 1 else 1)
        for value in (*odd, *texts(place, share=share, among=len(WRITES) * FIELDS_OF_EACH)):
            ana_key.call(method, path, as_json(body | {name: value}), JSON)
    for value in sample(ODD_VALUES, number, share=EVERY if share > 1 else 1):
        ana_key.call(method, path, as_json(value), JSON)
    assert ana_key.failed() == []


@table(("method", "route"), EVERYTHING)
def test_over_1_mib_is_413_unread(world: World, ana_key: Knocker, stranger: Knocker, method: str, route: str) -> None:
    for caller in (ana_key, stranger):
        answer = caller.call(method, path_of(route, world), b"{" * (MIB + 1), JSON)
        assert (answer.status_code, answer["Content-Type"]) == (413, "application/problem+json")


@table(("method", "route"), WRITES)
def test_exactly_1_mib_is_read(world: World, ana_key: Knocker, method: str, route: str) -> None:
    valid = (body_of(method, route, world.ana.samples) or "{}").encode()
    answer = ana_key.call(method, path_of(route, world), valid + b" " * (MIB - len(valid)), JSON)
    assert answer.status_code != 413
    assert ana_key.failed() == []


@table(("method", "route"), WRITES)
def test_another_kind_of_body_is_no_fault(world: World, ana_key: Knocker, method: str, route: str) -> None:
    valid = (body_of(method, route, world.ana.samples) or "{}").encode()
    for kind in KINDS:
        for query in ("", "?a=b&c=%00"):
            ana_key.call(method, path_of(route, world) + query, valid, kind)
    assert ana_key.failed() == []
