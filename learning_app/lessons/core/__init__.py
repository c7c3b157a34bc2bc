"""The words of lessons. Source: S4 (reflection notes, regime tagging and A/B telemetry). Pure."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

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


class Compare(StrEnum):
    """Whether two revisions take turns, so that they can be compared."""

    OFF = "off"
    ALTERNATE = "alternate"


class Cadence(StrEnum):
    """When a model looks back at the trades of a deployment."""

    OFF = "off"
    PER_N_TRADES = "per_n_trades"
    DAILY = "daily"


def reflection_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of reflection in the config of a skill, empty where it says none."""
    return (config.get("memory") or {}).get("reflection") or {}


def should_run_reflection(
    *,
    cadence: Cadence,
    every_n: int,
    closed_since_note: int,
    closed_this_tick: bool,
    last_generated_at: datetime | None,
    tick_at: datetime,
) -> bool:
    """Say whether a tick asks for a note. `closed_since_note` counts trades closed since the last one.

    Per N trades: the count is a multiple, and a trade closed at this tick. Daily: a trade closed since, and the last
    note is of another UTC date, or there is none.
    """
    if cadence is Cadence.OFF or closed_since_note < 1:
        return False
    if cadence is Cadence.PER_N_TRADES:
        return closed_this_tick and closed_since_note % every_n == 0
    return last_generated_at is None or last_generated_at.astimezone(UTC).date() != tick_at.astimezone(UTC).date()


def choose_place(deployment: str, openings: int) -> int:
    """Return which revision the next opening is made under: 0 the newest, 1 the one before it.

    Of each two openings one is made under each; a coin that `deployment` and the pair seed says which comes first.
    `openings` is how many there were since the two began to take turns.
    """
    pair, place = divmod(openings, 2)
    coin = hashlib.sha256(f"{deployment}:{pair}".encode()).digest()[0] % 2
    return coin ^ place
