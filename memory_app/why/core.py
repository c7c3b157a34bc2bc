"""The vocabulary of the log of searches."""

from enum import StrEnum

MAX_QUERY_CHARS = 512  # the column


class Door(StrEnum):
    """Where a search came in."""

    PAGE = "page"
    API = "api"
    TOOL = "tool"
    MCP = "mcp"
    COMMAND = "command"
