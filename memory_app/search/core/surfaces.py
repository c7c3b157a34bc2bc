"""Where a search came in."""

from enum import StrEnum


class Surface(StrEnum):
    """The surface of a search, as the log keeps it."""

    PAGE = "page"
    API = "api"
    TOOL = "tool"
    MCP = "mcp"
    COMMAND = "command"
