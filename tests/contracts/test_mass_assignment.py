"""A caller sets the fields of the form and no other (trust W-03; ASVS 5.0 8.2.3)."""

import json

from minara_site.access.models import User
from minara_site.access.policy import Act, Role, permits
from minara_site.agent.catalogue import load_tools
from minara_site.api import api
from tests.contracts.bodies import FORMS, JSON, body_of
from tests.contracts.doors import pages
from tests.contracts.permissions import OPEN, OPERATIONS
from tests.kit.rows import all_rows, changed_tables
from tests.kit.tables import table
from tests.kit.world import BENS, fill

MARK = "mallory7"
DAY = "2001-02-03T04:05:06Z"


def hostile(world):
    """Return every field that the server keeps to itself, with a value that can be found again."""
    ben = world.ben.user.pk
    numbers = ("version", "times_used", "times_correct", "times_seen", "tokens", "sequence", "size_bytes")
    days = (
        "created_at",
        "updated_at",
        "deleted_at",
        "ended_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
        "last_active_at",
    )
    words = (
        "actor",
        "origin",
        "content_hash",
        "batch",
        "prefix",
        "secret_sha256",
        "sha256",
        "embedding_state",
        "username",
        "password",
    )
    return {
        **dict.fromkeys(("id", "pk"), 777_777),
        **dict.fromkeys(("owner", "owner_id", "user", "user_id"), ben),
        **dict.fromkeys(numbers, 777_777),
        **dict.fromkeys(days, DAY),
        **dict.fromkeys(words, MARK),
        **dict.fromkeys(("is_demo", "is_default", "is_superuser", "is_staff", "is_active", "ok", "completed"), True),
        "source": "inferred",
        "category": "lesson",
        "state": "deleted",
        "fact_state": "settled",
        "quarantine": 0,
        "confidence": 0.777_777,
        "metadata": {MARK: MARK},
        "role": "operator",
        "groups": [1],
        MARK: MARK,
    }


def fields_of(name):
    """Return the names that an operation's schema takes."""
    document = api.get_openapi_schema()
    method, path = name.split(" ", 1)
    path = path.replace("{int:", "{").replace("{path:", "{")
    body = document["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]["schema"]
    names = set()
    for part in (body, *body.get("anyOf", ())):
        schema = document["components"]["schemas"].get(part.get("$ref", "").rpartition("/")[2], part)
        names |= schema.get("properties", {}).keys()
    return names


def refused_fields(world, call, known):
    """Return the fields that were taken although the schema does not know them."""
    return [field for field, value in hostile(world).items() if field not in known and call({field: value}) != 422]


@table("name", [name for name in JSON if "/tools/" not in name])
def test_an_operation_refuses_every_field_that_it_does_not_name(world, name):
    method, route = name.split(" /")
    before = all_rows()
    samples = world.ana.samples
    caller = "key_agent" if OPERATIONS[name][1]["key_agent"] is OPEN else "key_operator"

    def call(more):
        return (
            world.callers[caller]
            .call(method, fill(route, samples), body_of(method, route, samples, **more))
            .status_code
        )

    assert refused_fields(world, call, fields_of(name)) == []
    assert changed_tables(before, all_rows()) == set()


LEARNING = {"name": "open_long", "trigger": "open a long", "guidance": "stop first"}
ARGUMENTS = {
    "memory_write": {"category": "observation", "content": "BTC fell"},
    "memory_search": {"query": "common"},
    "memory_read": {"limit": 5},
    "memory_retract": {"id": 1, "reason": "wrong"},
    "memory_correct": {"id": 1, "content": "BTC fell"},
    "memory_compiled_page": {"asset": "BTC"},
    "record_decision": {"role_id": "analysis.thesis.review", "inputs": {}, "decision": "The thesis holds"},
    "memory_learn": LEARNING,
    "personalization_snapshot": {},
    "search_conversation_memory": {"query": "common"},
    "search_user_trades": {"asset": "BTC"},
    "query_trade_history": {"asset": "BTC"},
    "record_trade": {
        "symbol": "BTC",
        "side": "long",
        "size_usd": 1000,
        "entry_price": 65200,
        "opened_at": "2026-06-01T12:00:00Z",
    },
    "record_case": {"asset": "BTC", "decision": "Buy", "direction": "bullish", "horizon_hours": 24},
}


@table("name", load_tools())
def test_a_tool_refuses_every_argument_that_it_does_not_name(world, name):
    known = load_tools()[name].definition()["input_schema"]["properties"].keys()
    before = all_rows()

    def call(more):
        body = json.dumps({**ARGUMENTS[name], **more})
        return world.callers["key_agent"].call("POST", f"/v1/tools/{name}", body).status_code

    assert refused_fields(world, call, known) == []
    assert changed_tables(before, all_rows()) == set()


def who_may(route):
    """Return who sends a form: operators have forms of their own."""
    act = next(door.act for door in pages() if door.route == route)
    act = Act.REVIEW if act is Act.REVIEW_OWN else act  # the samples wait for operators
    people = {"ana": Role.USER, "olga": Role.OPERATOR, "sam": Role.SUPPORT}
    return next(name for name, role in people.items() if permits(act, role, None))


@table("name", FORMS)
def test_a_form_applies_none_of_them(world, name):
    method, route = name.split(" /")
    samples = world.ana.samples
    before = all_rows()
    more = {field: value for field, value in hostile(world).items() if field not in FORMS[name]}
    response = world.callers[who_may(route)].call(
        method,
        fill(route, samples),
        body_of(method, route, samples, **more),
    )
    assert response.status_code < 400
    after = all_rows()
    for name_of_table, rows in after.items():
        new = [row for key, row in rows.items() if before[name_of_table].get(key) != row]
        found = [row for row in new if any(mark in repr(row) for mark in (MARK, "777777", "2001-02-03", "2001, 2, 3"))]
        assert not found, name_of_table
        assert not any(BENS in repr(row) for row in new), name_of_table
    assert not User.objects.filter(is_superuser=True).exists()
    assert User.objects.get(is_default=True).username == "default"
    asked = FORMS[name]["role"] if route.endswith("/role/") else "user"
    roles = {user.username: user.role for user in User.objects.filter(username__in=["ana", "ben"])}
    assert roles == {"ana": asked, "ben": "user"}
