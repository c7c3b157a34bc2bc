"""Calls that the OpenAPI document allows, and calls that it forbids: never a fault, every answer as documented (W-25)."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.parameters import ParameterLocation

from tests.api.document import current_document
from tests.kit.world import World

load_all_checks()
FEW, MANY = 2, 250  # a document of 20 operations and two modes: 80 calls in CI, 10 000 by `make soak`
ALWAYS = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    ]
)
REFUSES_WRONG = CHECKS.get_by_names(["negative_data_rejection"])
NEEDS_LUCK = {
    "DELETE /v1/learnings/{learning_uid}",  # hers was edited by a person, like the next one
    "PATCH /v1/learnings/{learning_uid}",
    "GET /v1/budget",  # for operators, and Ana calls
    "POST /v1/audit/run",  # for operators, like the next five
    "GET /v1/audit/reports",
    "GET /v1/audit/reports/latest",
    "GET /v1/audit/reports/{report_id}",
    "GET /v1/audit/trend",
    "GET /v1/audit/findings",
    "GET /v1/edges",
    "POST /v1/memory/bulk",
    "POST /v1/methodologies/{uid}/outcomes",  # for operators, like the next two
    "POST /v1/methodologies/{uid}/quarantine",
    "POST /v1/methodologies/{uid}/release",
    "POST /v1/preferences/{preference_id}/archive",  # none of hers is active
    "POST /v1/preferences/{preference_id}/approve",  # no key approves
    "POST /v1/preferences/{preference_id}/reject",  # hers are typed
    "POST /v1/profile/accounts",  # addresses, like the next one's ids
    "DELETE /v1/profile/accounts/{account_id}",
    "POST /v1/prices",  # names of assets
    "POST /v1/role-memory",  # names of roles
    "POST /v1/profile/onboarding",  # values of dimensions, like the next one
    "PUT /v1/profile/tags/{tag_name}",
    "POST /v1/tools/{name}",
    "POST /v1/deployments/{deployment_id}/ticks",  # symbols of venues, like the next one
    "POST /v1/trades",  # symbols of venues, and moments that are over
    "POST /v1/trading-cases",  # names of assets
    "POST /v1/institution/runs",  # names of assets that have prices
}  # ids, names and arguments that the document cannot tell


@pytest.fixture(params=[pytest.param(FEW, id="few"), pytest.param(MANY, id="many", marks=pytest.mark.soak)])
def examples(request: pytest.FixtureRequest) -> int:
    """How many calls each operation gets in each mode."""
    return request.param


@pytest.fixture
def operations(world: World) -> Iterator[list[Any]]:
    """Every operation of the document as it is now; the connections of the test outlive each call."""
    document = schemathesis.openapi.from_dict(current_document())
    document.app = WSGIHandler()
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield [result.ok() for result in document.get_all_operations()]
    for signal in signals:
        signal.connect(close_old_connections)


def test_what_the_document_allows_is_answered(world: World, operations: list[Any], examples: int) -> None:
    seen = {operation.label: answers(world, operation, GenerationMode.POSITIVE, examples) for operation in operations}
    assert len(seen) >= 18
    never_done = {label for label, statuses in seen.items() if not any(200 <= status < 300 for status in statuses)}
    assert never_done <= NEEDS_LUCK


def test_what_the_document_forbids_is_refused(world: World, operations: list[Any], examples: int) -> None:
    for operation in operations:
        answers(world, operation, GenerationMode.NEGATIVE, examples)


def answers(world: World, operation: Any, mode: GenerationMode, examples: int) -> set[int]:
    """Call an operation this often; return the statuses of its answers. Fails for one that is not as documented."""
    statuses: set[int] = set()

    @settings(max_examples=examples, phases=[Phase.generate], derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def call(case: Any) -> None:
        samples = world.ana.samples | world.ana.samples["of_key"]
        real = {name: value for name, value in samples.items() if name in (case.path_parameters or {})}
        if mode is GenerationMode.POSITIVE and real:
            case.path_parameters = {**case.path_parameters, **real}
        with transaction.atomic():
            answer = case.call(headers=world.callers["key_agent"].headers, base_url="http://localhost")
            transaction.set_rollback(True)
        statuses.add(answer.status_code)
        must_refuse = mode is GenerationMode.NEGATIVE and not is_mended(case)
        case.validate_response(answer, checks=ALWAYS + REFUSES_WRONG * must_refuse)

    call()
    return statuses


def is_mended(case: Any) -> bool:
    """Say whether a header was wrong: our key, which goes with every call, may have taken its place."""
    header = case.meta.components.get(ParameterLocation.HEADER)
    return bool(header and header.mode.is_negative)
