"""What people said in the conversations of the development set."""

import json
from collections.abc import Iterator
from typing import Any

from tests.kit.shared import shared_path


def talk() -> list[str]:
    """Return every line of them."""
    return list(spoken(json.loads(shared_path("data/locomo_dev.json").read_text("utf-8"))))


def spoken(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("text"), str):
            yield node["text"]
        node = list(node.values())
    if isinstance(node, list):
        for value in node:
            yield from spoken(value)
