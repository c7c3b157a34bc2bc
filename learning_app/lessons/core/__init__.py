"""The words of lessons. Source: S4 (reflection notes, regime tagging and A/B telemetry). Pure."""

import hashlib
from enum import StrEnum

NOTE_KIND = "reflection_note"
"""The name of lessons among the kinds of text under guard."""
MAX_LESSONS_CHARS, HASH_DIGITS = 2_000, 16


class NoteStatus(StrEnum):
    """Whether a note is the one that the agent reads."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"


def hash_lessons_text(text: str | None) -> str | None:
    """Return what names lessons: 16 hex digits of the SHA-256, white space apart. None where there are none."""
    plain = " ".join((text or "").split())
    return hashlib.sha256(plain.encode()).hexdigest()[:HASH_DIGITS] if plain else None
