"""Every failure of the API: problem+json with an id that the log knows, whatever went wrong."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection

from minara_site.access.keys.services import create_key
from minara_site.config import Config
from tests.kit.api import Agent, agent_of, assert_problem
from tests.kit.tables import table

pytestmark = pytest.mark.django_db


class TestWithoutAKey:
    @table(
        "path",
        [
            "/v1/memory",
            "/v1/memory/1",
            "/v1/memory/search?q=a",
            "/v1/user-profile",
            "/v1/tools",
            "/v1/sessions/x/prompt",
        ],
    )
    def test_every_read_is_401_and_names_the_scheme(self, stranger: Agent, path: str) -> None:
        answer = stranger.get(path)
        assert_problem(answer, 401, "unauthenticated")
        assert answer["WWW-Authenticate"].startswith("Bearer")

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
    def test_garbage_is_401(self, stranger: Agent, header: str) -> None:
        answer = stranger.get("/v1/memory", Authorization=header)
        assert_problem(answer, 401)
        assert answer["WWW-Authenticate"].startswith("Bearer")

    def test_it_counts_before_the_body_is_read(self, stranger: Agent) -> None:
        assert_problem(stranger.post("/v1/memory", b"{{{"), 401)


class TestTheGatewayToken:
    @pytest.fixture
    def token(self, settings: Any, db: None) -> str:
        token = "a-gateway-token-of-the-operator"
        values = settings.MINARA.model_dump() | {"gateway_auth_token": token}
        settings.MINARA = Config.model_construct(**values)
        return token

    def test_is_a_key_of_the_default_user_with_all_agent_scopes(self, token: str) -> None:
        gateway = Agent(token)
        memory_id = gateway.write("of the default user")
        assert gateway.item(memory_id)["content"] == "of the default user"
        session_id = gateway.post("/v1/sessions", {}).json()["data"]["id"]
        turn = {"user_message": "a", "assistant_message": "b", "tool_calls": [], "completed": True}
        assert gateway.post(f"/v1/sessions/{session_id}/turns", turn).status_code == 202
        assert_problem(gateway.get("/v1/memory?owner=all"), 404)

    @table("wrong", ["a-gateway-token-of-the-operatoR", "a-gateway-token-of-the-operator ", "", "x"])
    def test_is_taken_whole(self, token: str, wrong: str) -> None:
        if wrong.strip() != token:
            assert_problem(Agent(wrong or " ").get("/v1/memory"), 401)


class TestMethods:
    @table(
        ("method", "path", "allowed"),
        [
            ("PUT", "/v1/memory", {"GET", "POST"}),
            ("DELETE", "/v1/memory", {"GET", "POST"}),
            ("POST", "/v1/memory/1", {"GET", "PATCH", "DELETE"}),
            ("PUT", "/v1/memory/1", {"GET", "PATCH", "DELETE"}),
            ("GET", "/v1/memory/bulk", {"POST"}),
            ("GET", "/v1/memory/1/restore", {"POST"}),
            ("POST", "/v1/memory/search", {"GET"}),
            ("POST", "/v1/tools", {"GET"}),
            ("GET", "/v1/tools/memory_read", {"POST"}),
            ("PUT", "/v1/sessions", {"POST"}),
            ("TRACE", "/v1/memory", {"GET", "POST"}),
            ("PROPFIND", "/v1/memory", {"GET", "POST"}),
        ],
    )
    def test_another_method_is_405_and_names_the_right_ones(
        self, agent: Agent, method: str, path: str, allowed: set[str]
    ) -> None:
        answer = agent.send(method, path)
        assert_problem(answer, 405, "method_not_allowed")
        assert allowed <= set(answer["Allow"].split(", "))

    @table("path", ["/v1/memory", "/v1/memory/1", "/v1/memory/bulk"])
    @table("method", ["OPTIONS", "HEAD"])
    def test_head_and_options_name_the_right_ones_too(self, agent: Agent, path: str, method: str) -> None:
        answer = agent.send(method, path)
        assert answer.status_code == 405
        assert "POST" in answer["Allow"] or "PATCH" in answer["Allow"]


class TestBodies:
    @table(
        "kind",
        [
            "",
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/xml",
            "application/jsonp",
            "garbage",
            "application/json/x",
        ],
    )
    def test_another_content_type_is_400(self, agent: Agent, kind: str) -> None:
        answer = agent.post("/v1/memory", b'{"statement": "a"}', Content_Type=kind)
        assert_problem(answer, answer.status_code)
        assert answer.status_code in {400, 415}

    def test_json_with_a_charset_is_json(self, agent: Agent) -> None:
        answer = agent.post("/v1/memory", '{"statement": "é"}'.encode(), Content_Type="application/json; charset=utf-8")
        assert answer.status_code == 201

    def test_over_1_mib_is_413_before_parsing(self, agent: Agent) -> None:
        size = 1024 * 1024
        assert_problem(agent.post("/v1/memory", b"{" * (size + 1)), 413, "too_large")
        assert_problem(agent.post("/v1/memory", b"{" * size), 400, "malformed")

    def test_exactly_1_mib_is_read(self, agent: Agent) -> None:
        body = b'{"statement": "a"}'
        assert agent.post("/v1/memory", body + b" " * (1024 * 1024 - len(body))).status_code == 201

    def test_over_1_mib_is_413_for_strangers_too(self, stranger: Agent) -> None:
        assert_problem(stranger.post("/v1/memory", b"x" * (1024 * 1024 + 1)), 413, "too_large")


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

    @table("number", ["0", str(2**31), str(2**63 - 1), str(2**63), str(2**64), "1" + "0" * 40, "9" * 4400])
    def test_a_number_that_no_row_has_is_404(self, agent: Agent, number: str) -> None:
        path = f"/v1/memory/{number}"
        for answer in (
            agent.get(path),
            agent.get(f"{path}/history"),
            agent.get(f"{path}/why"),
            agent.patch(path, {"statement": "a"}),
            agent.delete(path),
            agent.post(f"{path}/restore"),
        ):
            assert_problem(answer, 404, "not_found")


class TestADatabaseThatIsAway:
    @pytest.fixture(autouse=True)
    def no_database(self, agent: Agent) -> Iterator[None]:
        def refuse(*_call: Any) -> None:
            raise OperationalError("server closed the connection: secret internals")

        with connection.execute_wrapper(refuse):
            yield

    @table("path", ["/v1/memory", "/v1/memory/1", "/v1/memory/search?q=a", "/v1/sessions"])
    def test_asks_readers_to_come_back(self, agent: Agent, path: str) -> None:
        answer = agent.get(path)
        assert answer["Retry-After"] == "5"
        assert "secret internals" not in assert_problem(answer, 503, "unavailable")["detail"]

    def test_asks_writers_to_come_back(self, agent: Agent) -> None:
        answer = agent.post("/v1/memory", {"statement": "a"})
        assert answer["Retry-After"] == "5"
        assert_problem(answer, 503, "unavailable")


class TestRequestId:
    def test_stands_in_body_header_and_log(self, agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO):
            answer = agent.get("/v1/memory/999999")
        request_id = assert_problem(answer, 404)["request_id"]
        assert any(request_id in record.getMessage() + str(record.__dict__) for record in caplog.records)

    def test_comes_with_success_too(self, agent: Agent) -> None:
        first, second = agent.get("/v1/memory")["X-Request-ID"], agent.get("/v1/memory")["X-Request-ID"]
        assert first != second

    def test_of_the_caller_is_kept_when_it_is_one(self, agent: Agent) -> None:
        assert agent.get("/v1/memory", X_Request_ID="trace-1234.abc")["X-Request-ID"] == "trace-1234.abc"

    @table("forged", ["x" * 201, "<script>", "a b", "é", "a\tb", "'", '"}', "\x1b[31m"])
    def test_of_the_caller_is_replaced_when_it_is_none(self, agent: Agent, forged: str) -> None:
        assert agent.get("/v1/memory", X_Request_ID=forged)["X-Request-ID"] != forged


class TestScopes:
    def test_a_missing_one_is_named(self, ana: Any) -> None:
        problem = assert_problem(
            agent_of(ana, "memory:read").post("/v1/memory", {"statement": "a"}), 403, "missing_scope"
        )
        assert "memory:write" in problem["detail"]

    def test_a_key_of_support_staff_opens_no_memory(self, sam: Any) -> None:
        from django.utils import timezone

        key = create_key(user=sam, scopes=["memory:read"], now=timezone.now(), actor="test").text
        assert_problem(Agent(key).get("/v1/memory"), 403)
