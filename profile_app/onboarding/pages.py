"""The pages of the onboarding in words: questions, choices, what the agent will read, what became of the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy
from pydantic import JsonValue

from memory_app.memories.core.prompt import MemoryRow, memory_line
from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.core.vocabulary import Category
from minara_site.kernel.guard.masking import mask_nested, masked_for
from profile_app.onboarding.core import TAGGED, Answers, Question
from profile_app.onboarding.selectors import MemoryAct, find_memories, plan_memories
from profile_app.portrait.core.tags import SCHEMA, TagSource, labels_of, serialize_tag_value
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.pages.tags import VALUES, value_label
from profile_app.portrait.selectors.profile import load_profile
from profile_app.portrait.selectors.tags import list_tags

Words = str | Promise


class Choice(NamedTuple):
    """A possible answer: its slug, its label, and one line about it."""

    value: str
    label: Words
    text: Words


class QuestionText(NamedTuple):
    """A question as a person reads it: its name in the progress, the question, why it is asked."""

    name: Words
    title: Words
    text: Words


TEXTS: dict[Question, QuestionText] = {
    Question.FINANCE_KNOWLEDGE: QuestionText(
        gettext_lazy("Knowledge"),
        gettext_lazy("How well do you know finance?"),
        gettext_lazy("The agent explains as much as you need, and no more."),
    ),
    Question.FREQUENCY: QuestionText(
        gettext_lazy("Frequency"),
        gettext_lazy("How often do you trade?"),
        gettext_lazy("The agent looks at the time frames that fit."),
    ),
    Question.RISK: QuestionText(
        gettext_lazy("Risk"),
        gettext_lazy("How much risk do you take?"),
        gettext_lazy("There is no right answer. The agent weighs it when it suggests sizes."),
    ),
    Question.MARKETS: QuestionText(
        gettext_lazy("Markets"),
        gettext_lazy("Which markets do you follow?"),
        gettext_lazy("Choose as many as you like."),
    ),
    Question.CAPITAL: QuestionText(
        gettext_lazy("Capital"),
        gettext_lazy("How much do you invest?"),
        gettext_lazy("In your own words. It becomes a memory only: never a tag, and no figure is computed from it."),
    ),
}
HINTS: dict[Question, dict[str, Words]] = {
    Question.FINANCE_KNOWLEDGE: {
        "level_1": gettext_lazy("I am new to this. Explain each term."),
        "level_2": gettext_lazy("I know orders, fees and leverage."),
        "level_3": gettext_lazy("I read charts, funding and balance sheets."),
        "level_4": gettext_lazy("I do this for a living. Skip the basics."),
    },
    Question.FREQUENCY: {
        "passive": gettext_lazy("I buy and hold for months or years."),
        "weekly": gettext_lazy("I trade once or twice a week."),
        "daily": gettext_lazy("I trade about once a day."),
        "active": gettext_lazy("I trade several times a day."),
    },
    Question.RISK: {
        "conservative": gettext_lazy("I keep what I have, with little leverage."),
        "balanced": gettext_lazy("I accept normal swings and limit each loss."),
        "aggressive": gettext_lazy("I want high returns and bear large losses."),
    },
    Question.MARKETS: {
        "crypto_majors": gettext_lazy("BTC, ETH and the other large coins."),
        "crypto_alts": gettext_lazy("Layer 1, layer 2, DeFi and smaller coins."),
        "memes": gettext_lazy("DOGE, PEPE and the like."),
        "stocks": gettext_lazy("Shares, ETFs and stock indices."),
        "commodities": gettext_lazy("Gold, oil, gas, grain."),
        "pre_ipo": gettext_lazy("Companies that are not listed yet."),
    },
}
CHOICES = {
    question: [Choice(value, VALUES[question][value], text) for value, text in hints.items()]
    for question, hints in HINTS.items()
}
KEPT: dict[MemoryAct, Words] = {
    MemoryAct.KEEP_REWRITTEN: gettext_lazy("Its memory was rewritten by hand. It stays so."),
    MemoryAct.KEEP_DELETED: gettext_lazy("Its memory was deleted by hand. It stays deleted."),
}


class PromptLine(NamedTuple):
    """A line as the prompt has it. `is_new` marks what the next session does not read yet."""

    text: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """What answers become: the lines of the prompt, and why a memory stays as it is."""

    lines: Sequence[PromptLine]
    kept: Sequence[tuple[Words, Words]]

    @property
    def tokens(self) -> int:
        """What the lines cost, estimated."""
        return sum(estimate_tokens(line.text) for line in self.lines)


class AnswerRow(NamedTuple):
    """A question with its newest answer, and what became of the one that counts."""

    question: Question
    title: Words
    answer: str
    counts: bool
    tag: str
    memory: Memory | None
    note: Words


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored of an owner: answers, the tags that they declare, the memories that answers became."""

    profile: FinancialProfile
    stored: Answers
    tags: Mapping[str, str]
    memories: Mapping[Question, Memory]

    @classmethod
    def load(cls, owner: User, reader: User | None = None) -> Self:
        """Read it, for a reader who is not the owner without secrets and without what does not count. Three queries."""
        profile = load_profile(owner.pk)
        tags = {tag.name: tag.value for tag in list_tags(owner=owner) if tag.source == TagSource.USER}
        stored, memories = Answers.parse(profile.onboarding_answers_json), find_memories(owner)
        if reader and reader != owner:
            stored = Answers(given=mask_nested(stored.given))
            memories = {question: masked_for(reader, row) for question, row in memories.items()}
        return cls(profile, stored, tags, memories)

    def progress(self, current: Question | None = None) -> list[tuple[Question, Words, bool, bool]]:
        """Return each question with its name, and whether it was seen and is the current one."""
        return [
            (
                each,
                TEXTS[each].name,
                each.field in self.stored.seen,
                each is current,
            )
            for each in Question
        ]

    def preview(self, answers: Mapping[str, JsonValue]) -> Preview:
        """Return what the next prompt has of these valid answers; what its owner hides is in none."""
        steps, lines, now = plan_memories(self.stored, answers, self.memories), list[PromptLine](), timezone.now()
        if self.profile.include_tags:
            for name in (Question(name) for name in SCHEMA if name in TAGGED):
                if name.field in answers:
                    stored = serialize_tag_value(name, answers[name.field])
                    lines.append(PromptLine(f"- {name}: {labels_of(name, stored)}", self.tags.get(name) != stored))
        if self.profile.include_memories:
            for step in (step for step in steps if step.act not in KEPT):
                row = MemoryRow(0, Category.PERSONALIZATION, step.statement, now)
                lines.append(PromptLine(memory_line(row), step.act is not MemoryAct.NOTHING))
        return Preview(
            lines,
            [(TEXTS[step.question].name, KEPT[step.act]) for step in steps if step.act in KEPT],
        )

    def rows(self) -> list[AnswerRow]:
        """Return every question, in order."""
        steps = plan_memories(self.stored, self.stored.given, self.memories)
        notes = {step.question: KEPT.get(step.act, "") for step in steps}
        return [
            AnswerRow(
                each,
                TEXTS[each].title,
                answer_label(
                    each,
                    (self.stored.given | self.stored.drafted).get(each.field),
                ),
                each.field not in self.stored.drafted,
                value_label(each, self.tags[each]) if each in self.tags else "",
                self.memories.get(each),
                notes.get(each, ""),
            )
            for each in Question
        ]


def answer_label(question: Question, answer: JsonValue) -> str:
    """Return an answer as its user reads it, empty for none."""
    if answer is None:
        return ""
    return str(answer) if question is Question.CAPITAL else value_label(question, serialize_tag_value(question, answer))
