"""Tools as an agent calls them over HTTP."""

from typing import Any

from tests.kit.api import Agent


def call_tool(agent: Agent, name: str, status: int = 200, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return the answer, which has this status."""
    answer = agent.post(f"/v1/tools/{name}", arguments)
    assert answer.status_code == status, (answer.status_code, answer.content[:500])
    return dict(answer.json())
