"""Every failure of the API: problem+json with an id that the log knows, whatever went wrong."""

import logging
from typing import Any

import pytest
from django.db import OperationalError, connection

from tests.kit.api import Agent, assert_problem
from tests.kit.tables import table

pytestmark = pytest.mark.django_db


@table(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "bearer x",
        "Basic YTpi",
        "Token x",
        "Bearer " + "x" * 5000,
        "Bearer \u00ff\u00fe",
        "Bearer a b c",
        ",",
        "Digest username=x",
    ],
)
def test_garbage_for_a_key_is_401_and_names_the_scheme(stranger: Agent, header: str) -> None:
    answer = stranger.get("/v1/memory", Authorization=header)
    assert_problem(answer, 401)
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_the_gateway_token_is_a_key_of_the_default_user_and_is_taken_whole(settings: Any, db: None) -> None:
    token = "a-gateway-token-of-the-operator"
    settings.MINARA = settings.MINARA.model_copy(update={"gateway_auth_token": token})
    gateway = Agent(token)
    memory_id = gateway.write("of the default user")
    assert gateway.item(memory_id)["content"] == "of the default user"
    for wrong in (token[:-1] + "R", token[:-1], "x", " "):
        assert_problem(Agent(wrong).get("/v1/memory"), 401)


class TestMethods:
    @table(
        ("method", "path", "allowed"),
        [
            ("PUT", "/v1/memory", {"GET", "POST"}),
            ("POST", "/v1/memory/1", {"GET", "PATCH", "DELETE"}),
            ("GET", "/v1/tools/memory_read", {"POST"}),
            ("TRACE", "/v1/memory", {"GET", "POST"}),
            ("PROPFIND", "/v1/memory", {"GET", "POST"}),
        ],
    )
    def test_another_method_is_405_and_names_the_right_ones(
        self,
        agent: Agent,
        method: str,
        path: str,
        allowed: set[str],
    ) -> None:
        answer = agent.send(method, path)
        assert_problem(answer, 405, "method_not_allowed")
        assert allowed <= set(answer["Allow"].split(", "))


class TestBodies:
    def test_json_with_a_charset_is_json(self, agent: Agent) -> None:
        answer = agent.post("/v1/memory", '{"statement": "é"}'.encode(), Content_Type="application/json; charset=utf-8")
        assert answer.status_code == 201


class TestAddresses:
    @table(
        "path",
        [
            "/v1/",
            "/v1/nothing",
            "/v1/memory/",
            "/v1/memory/x",
            "/v1/memory/-1",
            "/v1/memory/1.5",
            "/v1/memory/1/nothing",
            "/v1/../etc",
            "/v1//memory",
        ],
    )
    def test_nothing_there_is_404(self, agent: Agent, path: str) -> None:
        assert_problem(agent.get(path), 404, "not_found")


def test_a_database_that_is_away_asks_to_come_back(agent: Agent) -> None:
    def refuse(*_call: Any) -> None:
        raise OperationalError("server closed the connection: secret internals")

    with connection.execute_wrapper(refuse):
        answers = [agent.get(path) for path in ("/v1/memory", "/v1/memory/1", "/v1/memory/search?q=a", "/v1/sessions")]
        answers.append(agent.post("/v1/memory", {"statement": "a"}))
    for answer in answers:
        assert answer["Retry-After"] == "5"
        assert "secret internals" not in assert_problem(answer, 503, "unavailable")["detail"]


class TestRequestId:
    def test_stands_in_body_header_and_log(self, agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO):
            answer = agent.get("/v1/memory/999999")
        request_id = assert_problem(answer, 404)["request_id"]
        assert any(request_id in record.getMessage() + str(record.__dict__) for record in caplog.records)

    @table("forged", ["x" * 201, "<script>", "a b", "é", "a\tb", "'", '"}', "\x1b[31m"])
    def test_of_the_caller_is_kept_when_it_is_one(self, agent: Agent, forged: str) -> None:
        assert agent.get("/v1/memory", X_Request_ID="trace-1234.abc")["X-Request-ID"] == "trace-1234.abc"
        first, second = (agent.get("/v1/memory", X_Request_ID=forged)["X-Request-ID"] for _time in "ab")
        assert len({first, second, forged}) == 3
