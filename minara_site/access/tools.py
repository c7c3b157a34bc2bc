"""What a tool of agents is; `<app>/tools.py` lists them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from minara_site.access.policy import Act

MAX_REASONING_CHARS = 2_000
REASONING = {
    "type": "string",
    "maxLength": MAX_REASONING_CHARS,
    "description": "Why you call this now; kept in the audit log.",
}


@dataclass(frozen=True)
class Tool:
    """One tool: its arguments as a pydantic model, its handler, and the act that the policy asks for.

    By its `former` names it still answers, and no catalogue lists it.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    act: Act
    run: Callable[..., dict[str, Any]]
    is_read_only: bool = True
    former: tuple[str, ...] = ()

    def definition(self) -> dict[str, Any]:
        """Return the tool as the Anthropic Messages API takes it."""
        schema = self.arguments.model_json_schema()
        properties = {**schema.pop("properties", {}), "reasoning": REASONING}
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": {**schema, "properties": properties},
        }
