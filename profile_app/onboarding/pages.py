"""The pages of the onboarding in words: questions, choices, what the agent will read, what became of the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import JsonValue

from memory_app.memories.core.prompt import MemoryRow, memory_line
from memory_app.memories.models import Memory
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.core.vocabulary import Category
from minara_site.web.labels import enumeration
from profile_app.onboarding.core import Answers, Question, capital_text
from profile_app.onboarding.selectors import MemoryAct, MemoryStep, plan_memories
from profile_app.portrait.core.tags import MULTIPLE, TagSource, labels_of, parse_stored_tag_value, serialize_tag_value
from profile_app.portrait.models import FinancialProfile, UserTag

Words = str | Promise


class Choice(NamedTuple):
    """A possible answer: its slug, its label, and one line about it."""

    value: str
    label: Words
    text: Words


class Asked(NamedTuple):
    """A question as a person reads it: its name in the progress, the question, why it is asked."""

    name: Words
    title: Words
    text: Words


ASKED: dict[Question, Asked] = {
    Question.FINANCE_KNOWLEDGE: Asked(
        gettext_lazy("Knowledge"),
        gettext_lazy("How well do you know finance?"),
        gettext_lazy("The agent explains as much as you need, and no more."),
    ),
    Question.FREQUENCY: Asked(
        gettext_lazy("Frequency"),
        gettext_lazy("How often do you trade?"),
        gettext_lazy("The agent looks at the time frames that fit."),
    ),
    Question.RISK: Asked(
        gettext_lazy("Risk"),
        gettext_lazy("How much risk do you take?"),
        gettext_lazy("There is no right answer. The agent weighs it when it suggests sizes."),
    ),
    Question.MARKETS: Asked(
        gettext_lazy("Markets"),
        gettext_lazy("Which markets do you follow?"),
        gettext_lazy("Choose as many as you like."),
    ),
    Question.CAPITAL: Asked(
        gettext_lazy("Capital"),
        gettext_lazy("How much do you invest?"),
        gettext_lazy("In your own words. It becomes a memory only: never a tag, and no figure is computed from it."),
    ),
}
CHOICES: dict[Question, tuple[Choice, ...]] = {
    Question.FINANCE_KNOWLEDGE: (
        Choice("level_1", gettext_lazy("Beginner"), gettext_lazy("I am new to this. Explain each term.")),
        Choice("level_2", gettext_lazy("Intermediate"), gettext_lazy("I know orders, fees and leverage.")),
        Choice("level_3", gettext_lazy("Advanced"), gettext_lazy("I read charts, funding and balance sheets.")),
        Choice("level_4", gettext_lazy("Expert"), gettext_lazy("I do this for a living. Skip the basics.")),
    ),
    Question.FREQUENCY: (
        Choice("passive", gettext_lazy("Rarely"), gettext_lazy("I buy and hold for months or years.")),
        Choice("weekly", gettext_lazy("Weekly"), gettext_lazy("I trade once or twice a week.")),
        Choice("daily", gettext_lazy("Daily"), gettext_lazy("I trade about once a day.")),
        Choice("active", gettext_lazy("All the time"), gettext_lazy("I trade several times a day.")),
    ),
    Question.RISK: (
        Choice("conservative", gettext_lazy("Conservative"), gettext_lazy("I keep what I have, with little leverage.")),
        Choice("balanced", gettext_lazy("Balanced"), gettext_lazy("I accept normal swings and limit each loss.")),
        Choice("aggressive", gettext_lazy("Aggressive"), gettext_lazy("I want high returns and bear large losses.")),
    ),
    Question.MARKETS: (
        Choice("crypto_majors", gettext_lazy("Crypto majors"), gettext_lazy("BTC, ETH and the other large coins.")),
        Choice("crypto_alts", gettext_lazy("Crypto alts"), gettext_lazy("Layer 1, layer 2, DeFi and smaller coins.")),
        Choice("memes", gettext_lazy("Memes"), gettext_lazy("DOGE, PEPE and the like.")),
        Choice("stocks", gettext_lazy("Stocks"), gettext_lazy("Shares, ETFs and stock indices.")),
        Choice("commodities", gettext_lazy("Commodities"), gettext_lazy("Gold, oil, gas, grain.")),
        Choice("pre_ipo", gettext_lazy("Pre-IPO"), gettext_lazy("Companies that are not listed yet.")),
    ),
}
KEPT: dict[MemoryAct, Words] = {
    MemoryAct.KEEP_REWRITTEN: gettext_lazy("You rewrote its memory. It stays as you left it."),
    MemoryAct.KEEP_DELETED: gettext_lazy("You deleted its memory. It stays deleted."),
}


class PromptLine(NamedTuple):
    """A line as the prompt has it. `is_new` marks what the next session does not read yet."""

    text: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """What answers become: the lines of the prompt, what it costs, and what is kept as it is."""

    lines: Sequence[PromptLine]
    kept: Sequence[tuple[Words, Words]]

    @property
    def tokens(self) -> int:
        """What the lines cost, estimated."""
        return sum(estimate_tokens(line.text) for line in self.lines)


@dataclass(frozen=True, slots=True)
class Step:
    """A question in the progress."""

    question: Question
    name: Words
    is_done: bool
    is_current: bool


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer with what became of it: tag and memory as they are now, and why one of them differs."""

    question: Question
    title: Words
    answer: str
    counts: bool
    tag: str
    memory: Memory | None
    note: Words


def list_steps(stored: Answers, current: Question | None = None) -> list[Step]:
    """Return the progress: done is what was answered, or skipped in this run."""
    seen = stored.given.keys() | stored.draft.keys()
    return [Step(each, ASKED[each].name, each.field in seen, each is current) for each in Question]


def neighbour(question: Question, by: int) -> Question | None:
    """Return the question before (-1) or after (1) this one, None at the ends."""
    questions = list(Question)
    place = questions.index(question) + by
    return questions[place] if 0 <= place < len(questions) else None


def answer_label(question: Question, answer: JsonValue) -> str:
    """Return an answer as its user reads it."""
    if question is Question.CAPITAL:
        return capital_text(answer)
    chosen = answer if isinstance(answer, list) else [answer]
    return enumeration([str(choice.label) for choice in CHOICES[question] if choice.value in chosen])


def tag_label(tag: UserTag) -> str:
    """Return the value of a tag in the reader's language."""
    value = parse_stored_tag_value(tag.name, tag.value)
    return answer_label(Question(tag.name), list(value) if tag.name in MULTIPLE else str(value))


def preview_lines(
    answers: Mapping[str, JsonValue],
    steps: Sequence[MemoryStep],
    tags: Mapping[str, UserTag],
    profile: FinancialProfile,
    *,
    now: datetime,
) -> list[PromptLine]:
    """Return the lines of tags, then of memories, as the next prompt has them; what its owner hides is in none."""
    lines = []
    if profile.include_tags:
        for question in sorted(question for question in Question if question.is_tag and question.field in answers):
            stored, tag = serialize_tag_value(question, answers[question.field]), tags.get(question)
            is_there = tag is not None and tag.source == TagSource.USER and tag.value == stored
            lines.append(PromptLine(f"- {question}: {labels_of(question, stored)}", not is_there))
    if profile.include_memories:
        for step in steps:
            if step.act not in KEPT:
                row = MemoryRow(0, Category.PERSONALIZATION, step.statement, now)
                lines.append(PromptLine(memory_line(row), step.act is not MemoryAct.NOTHING))
    return lines


def preview_of(
    stored: Answers,
    answers: Mapping[str, JsonValue],
    memories: Mapping[Question, Memory],
    tags: Mapping[str, UserTag],
    profile: FinancialProfile,
    *,
    now: datetime,
) -> Preview:
    """Return what the agent will read once these valid answers count."""
    steps = plan_memories(stored, answers, memories)
    kept = [(ASKED[step.question].name, KEPT[step.act]) for step in steps if step.act in KEPT]
    return Preview(preview_lines(answers, steps, tags, profile, now=now), kept)


def list_rows(
    stored: Answers, memories: Mapping[Question, Memory], tags: Mapping[str, UserTag], *, is_draft: bool
) -> list[AnswerRow]:
    """Return every question with its newest answer and what became of it."""
    acts = {step.question: step.act for step in plan_memories(stored, stored.given, memories)}
    rows = []
    for question in Question:
        answer, tag = stored.shown.get(question.field), tags.get(question)
        memory = memories.get(question)
        rows.append(
            AnswerRow(
                question,
                ASKED[question].title,
                answer_label(question, answer) if answer is not None else "",
                counts=not is_draft or question.field not in stored.drafted,
                tag=tag_label(tag) if tag and tag.source == TagSource.USER else "",
                memory=memory if memory and memory.deleted_at is None else None,
                note=KEPT.get(acts.get(question, MemoryAct.NOTHING), ""),
            )
        )
    return rows


def hidden_notes(profile: FinancialProfile) -> list[str]:
    """Return what the settings of the profile keep out of the prompt."""
    notes = {
        _("Your profile hides tags from the prompt."): profile.include_tags,
        _("Your profile hides memories of this kind from the prompt."): profile.include_memories,
    }
    return [note for note, is_shown in notes.items() if not is_shown]
