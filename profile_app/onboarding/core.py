"""The five questions of the onboarding, what an answer says in words, how answers are stored. Source: S3. Pure.

Answers bear the API's names, as the user sent them. `capital` becomes a memory and nothing else: never a tag, never a
metric.
"""

import json
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, JsonValue

from profile_app.portrait.core.tags import allowed_values

ORIGIN, REASON = "onboarding:", "onboarding"
MAX_CAPITAL_CHARS = 200
SENTENCE_ENDS = tuple(".!?\u3002\uff01\uff1f")


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


QUESTIONS = {question.field: question for question in Question}
TAGGED = tuple(question for question in Question if question is not Question.CAPITAL)
ORIGINS = {ORIGIN + question: question for question in Question}
"""The origins of the memories that answers become."""
WORDS: dict[Question, dict[str, str]] = {
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
    Question.MARKETS: {
        "crypto_majors": "crypto majors",
        "crypto_alts": "crypto alts",
        "memes": "memes",
        "stocks": "stocks",
        "commodities": "commodities",
        "pre_ipo": "pre-IPO",
    },
}


def statement_of(question: Question, answer: JsonValue) -> str:
    """Return what a valid answer says, in the first person and in English whatever the locale."""
    if question is Question.CAPITAL:
        text = str(answer)
        return f"My investing capital, as I state it: {text}{'' if text.endswith(SENTENCE_ENDS) else '.'}"
    words = WORDS[question]
    if isinstance(answer, list):
        return f"I follow: {', '.join(words[name] for name in allowed_values(question) if name in answer)}."
    return words[str(answer)]


class Completion(BaseModel):
    """What a completion changed, for its undo: the answers `before` and those `given`, the ids of the tags' events.

    `memories` has by id the version since then, and the one before: 0 where the completion wrote the memory.
    """

    before: dict[str, JsonValue]
    given: dict[str, JsonValue]
    was_completed: bool
    events: list[int] = []
    memories: dict[int, tuple[int, int]] = {}


class Answers(BaseModel):
    """What is stored of a user: the answers that count, those of a run that is not finished, the last completion.

    `draft` has None for a question that was skipped.
    """

    given: dict[str, JsonValue] = {}
    draft: dict[str, JsonValue] = {}
    last: Completion | None = None

    @classmethod
    def parse(cls, stored: str) -> Self:
        """Return what a column holds: the raw answers by their names, and the rest beside them."""
        found = json.loads(stored)
        return cls(
            given={name: found.pop(name) for name in QUESTIONS if name in found},
            **found,
        )

    def dump(self) -> str:
        """Return the column."""
        rest = self.model_dump(mode="json", exclude={"given"}, exclude_defaults=True)
        return json.dumps(self.given | rest, ensure_ascii=False)

    @property
    def drafted(self) -> dict[str, JsonValue]:
        """The answers of the run that is not finished, without what was skipped."""
        return {name: answer for name, answer in self.draft.items() if answer is not None}

    def says(self, question: Question, statement: str) -> bool:
        """Say whether the answer that counts says this."""
        return question.field in self.given and statement_of(question, self.given[question.field]) == statement

    @property
    def seen(self) -> set[str]:
        """The questions that were answered or skipped."""
        return {*self.given, *self.draft}

    @property
    def next_question(self) -> Question | None:
        """The first question that was neither answered nor skipped, None when there is none."""
        return next(
            (question for question in Question if question.field not in self.seen),
            None,
        )
