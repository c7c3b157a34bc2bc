"""Bodies that are broken, too large or of the wrong shape: a clear 4xx from every operation, nothing stored (W-19)."""

import json
from typing import Any

import pytest

from minara_site.kernel.models import AuditEntry
from tests.contracts.bodies import body_of
from tests.hostile.inputs import ODD_VALUES, as_json, bodies, sample, texts
from tests.hostile.knock import Knocker, api_routes, path_of
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


def named(doors: list[tuple[str, str]]) -> Any:
    return pytest.mark.parametrize(("method", "route"), doors, ids=[f"{method} {route}" for method, route in doors])


@named(WRITES)
def test_what_is_no_json_is_refused(world: World, ana_key: Knocker, method: str, route: str) -> None:
    path, audited = path_of(route, world), AuditEntry.objects.count()
    reads_no_body = body_of(method, route, world.ana.samples) is None
    for body in bodies():
        answer = ana_key.call(method, path, body, JSON)
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json", body[:80]
            assert answer.json()["detail"]
        else:
            assert reads_no_body or body in HARMLESS, body[:80]
    assert ana_key.faults == []
    assert AuditEntry.objects.count() == audited


@named(WRITES)
def test_every_field_survives_every_odd_value(
    world: World, ana_key: Knocker, method: str, route: str, share: int
) -> None:
    path, valid = path_of(route, world), body_of(method, route, world.ana.samples)
    if valid is None:
        pytest.skip("takes no body")
    body = json.loads(valid)
    for seed, name in enumerate(
        (*body, "nobody_knows_this", "id", "owner", "owner_id", "source", "deleted_at", "version")
    ):
        odd = sample(ODD_VALUES, seed, share=share // 4 or 1)
        for value in (*odd, *texts(seed, share=share * 20 if share > 1 else 1)):
            ana_key.call(method, path, as_json(body | {name: value}), JSON)
    for value in ODD_VALUES:
        ana_key.call(method, path, as_json(value), JSON)
    assert ana_key.faults == []


@named(EVERYTHING)
def test_over_1_mib_is_413_unread(world: World, ana_key: Knocker, stranger: Knocker, method: str, route: str) -> None:
    for caller in (ana_key, stranger):
        answer = caller.call(method, path_of(route, world), b"{" * (MIB + 1), JSON)
        assert (answer.status_code, answer["Content-Type"]) == (413, "application/problem+json")


@named(WRITES)
def test_exactly_1_mib_is_read(world: World, ana_key: Knocker, method: str, route: str) -> None:
    valid = (body_of(method, route, world.ana.samples) or "{}").encode()
    answer = ana_key.call(method, path_of(route, world), valid + b" " * (MIB - len(valid)), JSON)
    assert answer.status_code != 413
    assert ana_key.faults == []


@named(WRITES)
@pytest.mark.parametrize(
    "kind",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "multipart/form-data; boundary=x",
        "application/json;;;",
        "x" * 300,
    ],
)
def test_another_kind_of_body_is_refused(world: World, ana_key: Knocker, method: str, route: str, kind: str) -> None:
    valid = body_of(method, route, world.ana.samples)
    ana_key.call(method, path_of(route, world), (valid or "{}").encode(), kind)
    ana_key.call(method, path_of(route, world) + "?a=b&c=%00", (valid or "{}").encode(), kind)
    assert ana_key.faults == []
