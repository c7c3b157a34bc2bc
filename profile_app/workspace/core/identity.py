"""Who the agent says it is, out of IDENTITY.md, for display. Source: S3 (IDENTITY.md: name, vibe, emoji). Pure."""

import re
from dataclasses import dataclass

MAX_CHARS = 80
_KEY = re.compile(r"(name|vibe|emoji)[\s*]*[:\uff1a]", re.IGNORECASE)
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
        said = line.lstrip(" \t>*+-")
        key = _KEY.match(said)
        if key and (value := clean_value(said[key.end() :])):
            found.setdefault(key[1].lower(), value)
    return AgentIdentity(**found)


def clean_value(value: str) -> str:
    """Return a value without the marks around it, empty for a hint."""
    value = value.strip().strip("*`\"'").strip()
    return "" if _PLACEHOLDER.fullmatch(value) else value[:MAX_CHARS]
