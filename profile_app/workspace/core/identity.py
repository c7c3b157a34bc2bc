"""Who the agent says it is, out of IDENTITY.md, for display. Source: S3 (IDENTITY.md: name, vibe, emoji). Pure."""

import re
from dataclasses import dataclass

MAX_CHARS = 80
_LINE = re.compile(r"[\s>*+-]*\**\s*(name|vibe|emoji)\s*\**\s*[:\uff1a]\s*\**\s*(.*)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"[_*(\[<].*[_*)\]>]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AgentIdentity:
    """What an agent is called, how it is, and its emoji; each empty where the file does not say."""

    name: str = ""
    vibe: str = ""
    emoji: str = ""

    def __bool__(self) -> bool:
        return bool(self.name or self.vibe or self.emoji)


def parse_identity(text: str) -> AgentIdentity:
    """Return the first name, vibe and emoji that a text gives, one line each; frontmatter and lists alike.

    A hint in brackets or italics, as in a template that nobody filled in, is none.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match and (value := clean_value(match[2])):
            found.setdefault(match[1].lower(), value)
    return AgentIdentity(**found)


def clean_value(value: str) -> str:
    """Return a value without the marks around it, empty for a hint."""
    value = value.strip().strip("*`\"'").strip()
    return "" if _PLACEHOLDER.fullmatch(value) else value[:MAX_CHARS]
