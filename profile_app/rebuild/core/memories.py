"""Lasting facts out of what a user said, each with the words that say it. Source: S3 (memory extraction). Pure."""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from pydantic import Field

from memory_app.memories.core.fact_key import same_text
from profile_app.rebuild.core import DATA, ModelAnswer

MAX_TOKENS, MAX_FACTS, MAX_STATEMENT_CHARS, MAX_QUOTE_CHARS = 2_000, 10, 300, 400
SLICE_TURNS, SLICE_CHARS, CONTEXT_CHARS = 20, 24_000, 500
MIN_QUOTE_CHARS = 6

SYSTEM: Final = f"""\
You read what one user said to a finance agent in a number of turns, and note the lasting facts about them.

{DATA}
Each turn has its number, what the user said, and a part of the agent's answer, which is only context. Below the turns \
stands what is known already, and what the user called wrong.

- statement: one plain sentence about the user that will still hold next month: a preference, a goal, a habit, \
knowledge, a constraint, a fact of their life that matters to their money. Not what they ask, quote, paste or try once.
- fact_type: one word, such as preference, goal, habit, profile.
- turn: the number of the turn that says it. quote: the user's own words there that say it, copied exactly.
- Nothing that is known already or was called wrong, in no other words either. At most {MAX_FACTS}; most turns have \
none."""


class FoundFact(ModelAnswer):
    """A lasting fact, and the words that say it."""

    statement: str = Field(min_length=1, max_length=MAX_STATEMENT_CHARS, description="One plain sentence.")
    fact_type: str = Field(default="", max_length=40, description="One word.")
    turn: int = Field(description="The number of the turn that says it.")
    quote: str = Field(min_length=1, max_length=MAX_QUOTE_CHARS, description="The user's own words, copied exactly.")


class FoundFacts(ModelAnswer):
    """The lasting facts of these turns."""

    facts: list[FoundFact] = Field(max_length=MAX_FACTS, description="Empty for none.")


def choose_facts(
    answer: FoundFacts,
    said: Mapping[int, str],
    *,
    known: Collection[str],
    wrong: Collection[str],
) -> tuple[list[FoundFact], Counter[str]]:
    """Return the facts whose quote the user said in the turn they name, and how many were dropped why.

    `known` and `wrong` are keys of statements.
    """
    kept: dict[str, FoundFact] = {}
    dropped: Counter[str] = Counter()
    for fact in answer.facts:
        key, quote = key_of(fact.statement), plain(fact.quote)
        if len(quote) < MIN_QUOTE_CHARS or quote not in plain(said.get(fact.turn, "")):
            dropped["no_quote"] += 1
        elif key in wrong:
            dropped["wrong"] += 1
        elif key in known or key in kept:
            dropped["known"] += 1
        else:
            kept[key] = fact
    return list(kept.values()), dropped


def key_of(statement: str) -> str:
    """Return what two statements that say the same have in common: a SHA-256 as 64 hex digits."""
    return hashlib.sha256(plain(statement).rstrip(".。!").encode()).hexdigest()


def plain(text: str) -> str:
    """Return a text in which case, white space and spellings of characters make no difference."""
    return same_text(text).casefold()
