"""Reads of the onboarding: the stored answers, their memories, and what a completion would do. Source: S3."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import JsonValue

from memory_app.memories.models import Memory, MemoryQuerySet
from memory_app.memories.selectors import find_deletions, retention_cutoff
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category, Source
from profile_app.onboarding.core import ORIGIN, ORIGINS, REASON, TAGGED, Answers, Question, statement_of
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag
from profile_app.portrait.selectors.profile import load_profile


class MemoryAct(StrEnum):
    """What a completion does to the memory of a question. What its user rewrote or deleted stays as they left it."""

    WRITE = "write"
    EDIT = "edit"
    NOTHING = "nothing"
    KEEP_REWRITTEN = "keep_rewritten"
    KEEP_DELETED = "keep_deleted"


WRITES = (MemoryAct.WRITE, MemoryAct.EDIT)


@dataclass(frozen=True, slots=True)
class MemoryStep:
    """What is done to the memory of a question, None when there is none, and what it is to say."""

    question: Question
    statement: str
    act: MemoryAct
    memory: Memory | None


def list_memories(owner: User) -> MemoryQuerySet:
    """Return the memories that answers became and nobody deleted."""
    kind = {
        "category": Category.PERSONALIZATION,
        "source": Source.USER_MANUAL,
        "deleted_at": None,
    }
    return Memory.objects.for_owner(owner).filter(origin__in=list(ORIGINS), **kind)


def find_memories(owner: User, *, lock: bool = False) -> dict[Question, Memory]:
    """Return the memory of each question. One query."""
    rows = list_memories(owner).order_by("pk")
    return {ORIGINS[row.origin]: row for row in (rows.select_for_update(of=("self",)) if lock else rows)}


def find_undone(owner: User, question: Question, *, now: datetime) -> Memory | None:
    """Return the memory of a question that an undo of the onboarding put into the trash. Two queries at most."""
    kept = Memory.objects.for_owner(owner).kept(retention_cutoff(now)).filter(deleted_at__isnull=False)
    rows = list(kept.filter(origin=ORIGIN + question).order_by("-pk"))
    undone = {batch for batch, deletion in find_deletions(rows).items() if deletion.reason == REASON}
    return next((row for row in rows if row.batch in undone), None)


def plan_memories(
    stored: Answers,
    given: Mapping[str, JsonValue],
    memories: Mapping[Question, Memory],
) -> list[MemoryStep]:
    """Return what a completion with these valid answers does to the memory of each, in the order of the questions."""
    steps = []
    for question in (question for question in Question if question.field in given):
        statement, memory = statement_of(question, given[question.field]), memories.get(question)
        steps.append(
            MemoryStep(
                question,
                statement,
                decide_act(question, statement, stored, memory),
                memory,
            )
        )
    return steps


def decide_act(
    question: Question,
    statement: str,
    stored: Answers,
    memory: Memory | None,
) -> MemoryAct:
    """Return what is done to the memory of a question that is now to say this.

    One was written for each answer that counts: where it is gone, its user deleted it.
    """
    if memory is None:
        return MemoryAct.KEEP_DELETED if question.field in stored.given else MemoryAct.WRITE
    if memory.content == statement:
        return MemoryAct.NOTHING
    return MemoryAct.EDIT if stored.says(question, memory.content) else MemoryAct.KEEP_REWRITTEN


def get_onboarding_status(*, owner: User) -> dict[str, Any]:
    """Return whether an owner answered, how many of the four tags they declare, how many of the memories live (S3)."""
    declared = UserTag.objects.for_owner(owner).filter(source=TagSource.USER, name__in=TAGGED)
    return {
        "hasCompleted": bool(load_profile(owner.pk).onboarding_completed),
        "tagsSet": declared.count(),
        "memoriesWritten": list_memories(owner).live().count(),
    }
