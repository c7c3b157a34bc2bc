"""The five questions of the onboarding, what an answer says in words, and how answers are stored. Sources: S3, decisions. Pure.

Answers bear the API's names, as the user sent them. `capital` becomes a memory and nothing else: never a tag, never a
metric.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

from pydantic import JsonValue

from profile_app.portrait.core.tags import allowed_values

ORIGIN = "onboarding:"
MAX_CAPITAL_CHARS = 200
DRAFT, PUT_ASIDE, LAST = "draft", "put_aside", "last"


class Question(StrEnum):
    """The questions in their order; all but the last are dimensions of the tags."""

    FINANCE_KNOWLEDGE = "finance_knowledge"
    FREQUENCY = "frequency"
    RISK = "risk"
    MARKETS = "markets"
    CAPITAL = "capital"

    @property
    def field(self) -> str:
        """The name of its answer in the API and in the stored answers."""
        return "financeKnowledge" if self is Question.FINANCE_KNOWLEDGE else self.value

    @property
    def origin(self) -> str:
        """The origin of its memory."""
        return ORIGIN + self.value

    @property
    def is_tag(self) -> bool:
        """Whether its answer is a tag."""
        return self is not Question.CAPITAL


QUESTIONS = {question.field: question for question in Question}
SAID: dict[Question, dict[str, str]] = {
    Question.FINANCE_KNOWLEDGE: {
        "level_1": "My finance knowledge: Beginner.",
        "level_2": "My finance knowledge: Intermediate.",
        "level_3": "My finance knowledge: Advanced.",
        "level_4": "My finance knowledge: Expert.",
    },
    Question.FREQUENCY: {
        "passive": "I trade rarely and hold for a long time.",
        "weekly": "I trade weekly.",
        "daily": "I trade daily.",
        "active": "I trade actively, several times a day.",
    },
    Question.RISK: {
        "conservative": "My risk appetite: conservative.",
        "balanced": "My risk appetite: balanced.",
        "aggressive": "My risk appetite: aggressive.",
    },
}
MARKET_WORDS = {
    "crypto_majors": "crypto majors",
    "crypto_alts": "crypto alts",
    "memes": "memes",
    "stocks": "stocks",
    "commodities": "commodities",
    "pre_ipo": "pre-IPO",
}


def capital_text(answer: JsonValue) -> str:
    """Return the capital as its user states it: their words trimmed, or their number."""
    return str(answer).strip()


def statement_of(question: Question, answer: JsonValue) -> str:
    """Return what a valid answer says, in the first person and in English whatever the locale."""
    if question is Question.CAPITAL:
        return f"My investing capital, as I state it: {capital_text(answer)}."
    if question is Question.MARKETS and isinstance(answer, list):
        chosen = [MARKET_WORDS[name] for name in allowed_values(question) if name in answer]
        return f"I follow: {', '.join(chosen)}."
    return SAID[question][str(answer)]


@dataclass(frozen=True, slots=True)
class Completion:
    """What the last completion that changed something did, for its undo.

    `before` are the answers until then, `given` those of this completion. `events` are those of the tags, `written` and
    `edited` the memories by id: with the version that they have since, and of edited ones the one that they had.
    """

    before: dict[str, JsonValue]
    given: dict[str, JsonValue]
    was_completed: bool
    events: tuple[int, ...] = ()
    written: dict[int, int] = field(default_factory=dict)
    edited: dict[int, tuple[int, int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return {
            "before": self.before,
            "given": self.given,
            "was_completed": self.was_completed,
            "events": list(self.events),
            "written": self.written,
            "edited": {pk: list(versions) for pk, versions in self.edited.items()},
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return what is stored."""
        edited = {int(pk): (after, before) for pk, (after, before) in stored["edited"].items()}
        written = {int(pk): version for pk, version in stored["written"].items()}
        return cls(
            stored["before"], stored["given"], stored["was_completed"], tuple(stored["events"]), written, edited
        )


@dataclass(frozen=True, slots=True)
class Answers:
    """What is stored of a user: the answers that count, and beside them those of a run that is not finished.

    `draft` has None for a question that was skipped. `put_aside` is a draft that its writer discarded.
    """

    given: dict[str, JsonValue] = field(default_factory=dict)
    draft: dict[str, JsonValue] = field(default_factory=dict)
    put_aside: dict[str, JsonValue] = field(default_factory=dict)
    last: Completion | None = None

    @classmethod
    def parse(cls, stored: str) -> Self:
        """Return what a column holds."""
        found = json.loads(stored or "{}")
        given = {name: found[name] for name in QUESTIONS if name in found}
        last = Completion.from_json(found[LAST]) if LAST in found else None
        return cls(given, found.get(DRAFT, {}), found.get(PUT_ASIDE, {}), last)

    def dump(self) -> str:
        """Return the column: the raw answers by their names, the rest under names of its own."""
        rest: dict[str, Any] = {DRAFT: self.draft, PUT_ASIDE: self.put_aside}
        rest |= {LAST: self.last.as_json()} if self.last else {}
        return json.dumps({**self.given, **{name: value for name, value in rest.items() if value}}, ensure_ascii=False)

    @property
    def drafted(self) -> dict[str, JsonValue]:
        """The answers of the run that is not finished, without what was skipped."""
        return {name: value for name, value in self.draft.items() if value is not None}

    @property
    def shown(self) -> dict[str, JsonValue]:
        """The newest answers, whether they count yet or not."""
        return self.given | self.drafted

    @property
    def next_question(self) -> Question | None:
        """The first question that was neither answered nor skipped, None when there is none."""
        seen = self.given.keys() | self.draft.keys()
        return next((question for question in Question if question.field not in seen), None)

    def with_draft(self, question: Question, answer: JsonValue) -> Self:
        """Return the answers with one more of the run; None skips the question."""
        return replace(self, draft={**self.draft, question.field: answer}, put_aside={})
