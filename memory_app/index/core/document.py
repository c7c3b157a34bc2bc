"""What the index holds for one row."""

from dataclasses import dataclass
from enum import StrEnum

from minara_site.kernel.core.text import prepare


class Kind(StrEnum):
    """The table that a document stands for."""

    MEMORY = "memory"
    ROLE_MEMORY = "role_memory"

    @property
    def owner_mark(self) -> str:
        """The letter that owners' tokens begin with: another for each kind, so that a search of one meets no other."""
        return "r" if self is Kind.ROLE_MEMORY else "u"


ROLE_MEMORY_WORD = "rolememory"
"""The category of every entry of role memory in the index."""


@dataclass(frozen=True, slots=True)
class Document:
    """One row of `search_document`: text and category as words, the owner as a token that no query word can reach."""

    kind: Kind
    object_id: int
    owner_id: int
    owner_token: str
    body: str
    category: str


def memory_document(
    memory_id: int,
    owner_id: int,
    content: str,
    category: str,
) -> Document:
    """Return the document of a memory."""
    return Document(
        Kind.MEMORY,
        memory_id,
        owner_id,
        owner_token(owner_id),
        prepare(content),
        category_token(category),
    )


def entry_document(entry_id: int, owner_id: int, *parts: str) -> Document:
    """Return the document of an entry of role memory; `parts` as in `entry_text`."""
    body, token = prepare(entry_text(*parts)), owner_token(owner_id, Kind.ROLE_MEMORY)
    return Document(Kind.ROLE_MEMORY, entry_id, owner_id, token, body, ROLE_MEMORY_WORD)


def entry_text(*parts: str) -> str:
    """Return what an entry says as it is searched and embedded: asset, decision, narrative, lesson.

    What the guard holds of it comes as an empty part.
    """
    return "\n".join(filter(None, parts))


def owner_token(owner_id: int, kind: Kind = Kind.MEMORY) -> str:
    """Return the word that stands for an owner in the index."""
    return f"{kind.owner_mark}{owner_id}"


def category_token(category: str) -> str:
    """Return the one word that stands for a category: `trade_outcome` is `tradeoutcome`."""
    return prepare(category).replace(" ", "")
