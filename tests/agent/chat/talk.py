"""A talk with `minara chat`, from the lines that are typed to what is printed, and what its model answers."""

import sys
from io import StringIO
from typing import Any

from django.core.management import call_command

from tests.kit.messages_api import Reply


def talk(*lines: str, **options: Any) -> str:
    """Type these lines into `minara chat`, then Ctrl-D; return what it printed."""
    out, stdin = StringIO(), sys.stdin
    sys.stdin = StringIO("".join(f"{line}\n" for line in lines))
    try:
        call_command("chat", stdout=out, **{"user": "ana", **options})
    finally:
        sys.stdin = stdin
    return out.getvalue()


def calling(name: str, *, text: str = "", identifier: str = "toolu_1", **arguments: Any) -> Reply:
    """Return a reply that calls a tool, perhaps after some words."""
    said = ({"type": "text", "text": text},) if text else ()
    return Reply(blocks=(*said, {"type": "tool_use", "id": identifier, "name": name, "input": arguments}))
