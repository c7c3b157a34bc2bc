"""A talk with `minara chat`, from the lines that are typed to what is printed, and what its model answers."""

import signal
import sys
import threading
from io import StringIO
from pathlib import Path
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


def interrupt_main() -> None:
    """Press Ctrl-C once the main thread waits for its model: a signal just before would be seen after the wait."""
    main = threading.main_thread()
    status = Path(f"/proc/self/task/{main.native_id}/stat")
    while (
        sys._current_frames()[main.ident or 0].f_code.co_name != "wait"
        or status.read_text().rpartition(")")[2].split()[0] != "S"
    ):
        threading.Event().wait(0.01)
    signal.pthread_kill(main.ident or 0, signal.SIGINT)
