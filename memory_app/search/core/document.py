"""What the index holds for one memory."""

from dataclasses import dataclass
from enum import StrEnum

from minara_site.kernel.core.text import prepare


class Kind(StrEnum):
    """The table that a document stands for."""

    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Document:
    """One row of `search_document`: text and category as words, the owner as a token that no query word can reach."""

    kind: Kind
    object_id: int
    owner_id: int
    owner_token: str
    body: str
    category: str


def memory_document(memory_id: int, owner_id: int, content: str, category: str) -> Document:
    """Return the document of a memory."""
    return Document(Kind.MEMORY, memory_id, owner_id, owner_token(owner_id), prepare(content), category_token(category))


def owner_token(owner_id: int) -> str:
    """Return the word that stands for an owner in the index."""
    return f"u{owner_id}"


def category_token(category: str) -> str:
    """Return the one word that stands for a category: `trade_outcome` is `tradeoutcome`."""
    return prepare(category).replace(" ", "")
