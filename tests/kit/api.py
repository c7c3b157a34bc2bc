"""An agent at the HTTP API: a real key, JSON bodies, and the shapes that every answer must have."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from minara_site.access.keys.services import create_key
from minara_site.access.policy import AGENT_SCOPES

PROBLEM_FIELDS = {"ok", "type", "title", "status", "detail", "code", "request_id", "errors"}
MEMORY_FIELDS = {
    "id",
    "category",
    "content",
    "source",
    "writer",
    "fact_type",
    "tickers",
    "state",
    "version",
    "seen",
    "conflict",
    "created_at",
    "updated_at",
}
ISO_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


@dataclass
class Agent:
    """Somebody who calls the API with this key; without one a stranger."""

    key: str = ""
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """Call; `body` is sent as JSON unless it is bytes already."""
        if self.key:
            headers.setdefault("Authorization", f"Bearer {self.key}")
        content_type = headers.pop("Content_Type", "application/json" if body is not None else "")
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        data: Any = b"" if body is None else body
        if not isinstance(data, bytes):
            return self.client.generic(
                method,
                path,
                self.client._encode_json(data, "application/json"),
                content_type,
                headers=names,
            )
        return self.client.generic(method, path, data, content_type, headers=names)

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send("POST", path, body, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send("PUT", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send("PATCH", path, body, **headers)

    def delete(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.send("DELETE", path, body, **headers)

    def tool(self, name: str, arguments: dict[str, Any]) -> HttpResponse:
        """Call a tool over HTTP."""
        return self.post(f"/v1/tools/{name}", arguments)

    def write(self, statement: str, **fields: Any) -> int:
        """Write a memory and return its id."""
        answer = self.post("/v1/memory", {"statement": statement, **fields})
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    def item(self, memory_id: int) -> dict[str, Any]:
        """Read a memory."""
        return self.get(f"/v1/memory/{memory_id}").json()["data"]


def key_of(user: Any, scopes: Iterable[str] = AGENT_SCOPES) -> str:
    """Make a key of this user and return its text."""
    return create_key(user=user, scopes=scopes, now=timezone.now(), actor="test").text


def agent_of(user: Any, *scopes: str) -> Agent:
    """Return an agent with a key of this user; without scopes it has every agent's scope."""
    return Agent(key_of(user, scopes or AGENT_SCOPES))


def assert_problem(answer: HttpResponse, status: int, code: str | None = None) -> dict[str, Any]:
    """Check that the answer is a whole problem document of this status, and return it."""
    assert answer.status_code == status, (answer.status_code, answer.content[:500])
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert set(problem) - {"current"} == PROBLEM_FIELDS
    assert problem["ok"] is False
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    assert problem["request_id"] == answer["X-Request-ID"] != ""
    assert all(set(error) == {"field", "message"} for error in problem["errors"])
    assert code is None or problem["code"] == code, problem
    return problem


def read_time(text: str) -> datetime:
    """Check that a time is ISO 8601 in UTC, and return it."""
    assert ISO_UTC.fullmatch(text), text
    moment = datetime.fromisoformat(text)
    assert moment.utcoffset() == timedelta(0)
    return moment


def walk(agent: Agent, path: str, limit: int) -> list[list[Any]]:
    """Follow `next_cursor` to the end and return the pages."""
    pages, cursor = [], ""
    separator = "&" if "?" in path else "?"
    while True:
        data = agent.get(f"{path}{separator}limit={limit}" + (f"&cursor={cursor}" if cursor else "")).json()["data"]
        assert set(data) == {"items", "next_cursor"}
        pages.append(data["items"])
        cursor = data["next_cursor"]
        if cursor is None:
            return pages
        assert len(data["items"]) == limit
        assert len(pages) < 100
