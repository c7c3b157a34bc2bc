"""The terminal: lines in, text out. Nothing that a model or a stored text says can steer it."""

import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Any

from minara_site.agent.chat.core import printable

PROMPT = "> "


class Terminal:
    """Standard input, and a command's output; commands write to it as to a file."""

    def __init__(self, out: Any) -> None:
        """`out` is the output of the command that talks; at a terminal lines can be edited."""
        self.out = out
        self.is_interactive = sys.stdin.isatty() and sys.stdout.isatty()
        for stream, errors in (
            (sys.stdin, "surrogateescape"),
            (sys.stdout, "backslashreplace"),
        ):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors=errors)
        if self.is_interactive:
            with suppress(ImportError):
                import_module("readline")

    def isatty(self) -> bool:
        """Say whether a person reads what is written."""
        return self.is_interactive

    def read(self) -> str | None:
        """Return the next line without blanks around it, None at the end. Ctrl-C at the prompt empties the line."""
        try:
            return input(PROMPT if self.is_interactive else "").strip()
        except EOFError:
            if self.is_interactive:
                self.show("")
            return None
        except KeyboardInterrupt:
            if not self.is_interactive:
                raise
            self.show("")
            return ""

    def write(self, text: str) -> None:
        """Write a text as it is, without what would steer the terminal."""
        self.out.write(printable(text), ending="")
        self.out.flush()

    def show(self, text: str) -> None:
        """Write a text as lines of its own."""
        self.write(f"{text}\n")
