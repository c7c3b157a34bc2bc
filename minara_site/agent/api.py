"""`/v1/tools`: the catalogue and the calls."""

from typing import Any

from ninja import Body

from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.agent.catalogue import call_tool, tools_for
from minara_site.shell.pages import PageRequest
from minara_site.web.schemas import Data

router = ApiRouter(tags=["tools"])


@router.get(
    "/tools",
    "List the tools that this key may use",
    Act.TOOLS,
    Data[list[dict[str, Any]]],
)
def list_tools(request: PageRequest) -> dict[str, Any]:
    """List the tools that this caller may use, as Anthropic tool definitions."""
    return {"data": [tool.definition() for tool in tools_for(request.principal)]}


@router.post(
    "/tools/{name}",
    "Call a tool",
    Act.TOOLS,
    Data[dict[str, Any]],
)
def call(
    request: PageRequest,
    name: str,
    payload: Body[dict[str, Any]],
) -> dict[str, Any]:
    """Run one tool; each asks for its own scope."""
    return {"data": call_tool(request.principal, name, payload)}
