"""Writes of the onboarding: the answers of a run that goes on, its completion, and the undo of that. Sources: S3, R-33.

Every answer is checked before any write. Equal answers again write nothing; another answer changes tag and memory of
its question and adds none. What a user rewrote or deleted by hand stays as they left it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import JsonValue

from memory_app.memories.core import guarded_text
from memory_app.memories.services import (
    Changes,
    Draft,
    delete_memories,
    edit_memory,
    lock_memories,
    restore_memories,
    write_memory,
)
from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.errors import Conflict, Invalid, NotFound, or_not_found, refuse_problems
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.labels import SENTENCES
from minara_site.kernel.plain_text import storable_problem
from profile_app.onboarding.core import (
    MAX_CAPITAL_CHARS,
    ORIGIN,
    QUESTIONS,
    REASON,
    TAGGED,
    Answers,
    Completion,
    Question,
    statement_of,
)
from profile_app.onboarding.selectors import WRITES, MemoryAct, MemoryStep, find_memories, find_undone, plan_memories
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.services.profile import lock_profile
from profile_app.portrait.services.tags import set_tags, undo_change, value_problem


@dataclass(frozen=True, slots=True)
class Completed:
    """How many tags say what was answered, how many of them changed, and how many memories were written or changed."""

    tags_set: int
    tags_changed: int
    memories_written: int


def check_answers(answers: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the answers as they are stored, without those that are None, which were skipped.

    Raises Invalid with one error for each wrong answer, by its name in the API.
    """
    given = {name: answer for name, answer in answers.items() if answer is not None}
    refuse_problems({name: answer_problem(QUESTIONS.get(name), answer) for name, answer in given.items()})
    return {name: answer.strip() if isinstance(answer, str) else answer for name, answer in given.items()}


def answer_problem(question: Question | None, answer: JsonValue) -> str:
    """Return what to do about an answer, empty for one that can be stored."""
    if question is None:
        return _("There is no such question.")
    return value_problem(question, answer) if question in TAGGED else capital_problem(answer)


def capital_problem(answer: JsonValue) -> str:
    """Return why a capital cannot be stored, empty for one that can: one line of text, or a number."""
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return _("Send a text or a number.")
    if not isinstance(answer, str) and answer < 0:
        return _("Send 0 or more.")
    text = str(answer).strip()
    if problem := storable_problem(text):
        return problem
    if not 0 < len(text) <= MAX_CAPITAL_CHARS or len(text.splitlines()) > 1:
        return _("Write it on one line, with 1 to %(max)d characters.") % {"max": MAX_CAPITAL_CHARS}
    statement, fact_type = statement_of(Question.CAPITAL, text), fact_type_of(Question.CAPITAL)
    said = guarded_text(
        content=statement,
        fact_type=fact_type,
        tickers=(),
        metadata=None,
    )
    findings = [*guard.judge(text).findings, *guard.judge(said).findings]
    return str(SENTENCES[findings[0].reason]) if findings else ""


def fact_type_of(question: Question) -> str:
    """Return the label of a question's memory."""
    return f"profile.{question}"


def save_answer(
    *,
    owner: User,
    question: Question,
    answer: JsonValue,
    now: datetime,
) -> Answers:
    """Keep an answer of a run that goes on, None for a question that is skipped; it counts once the run is finished.

    Raises Invalid.
    """
    checked = check_answers({question.field: answer}).get(question.field)
    with transaction.atomic():
        profile, stored = lock_answers(owner, now)
        answers = stored.model_copy(update={"draft": {**stored.draft, question.field: checked}})
        store_answers(profile, answers, now=now)
    return answers


def complete_onboarding(
    *,
    principal: Principal,
    answers: Mapping[str, JsonValue],
    now: datetime,
) -> Completed:
    """Let answers count: declared tags, and one memory for each question (S3, `completeOnboarding`).

    Raises Invalid before anything is written, and Refused where a key would change what a person wrote or deleted.
    """
    given = check_answers(answers)
    if not given:
        raise Invalid(_("Answer at least one question."))
    with transaction.atomic():
        return complete(
            principal,
            *lock_answers(principal.owner, now),
            given,
            now=now,
        )


def finish_run(*, principal: Principal, now: datetime) -> Completed | None:
    """Let the answers of a run count, none where all questions were skipped; return None when it is finished already.

    Raises Invalid while a question is left and none is answered.
    """
    with transaction.atomic():
        profile, stored = lock_answers(principal.owner, now)
        given = check_answers(stored.drafted)
        if not given and profile.onboarding_completed:
            return None
        if not given and stored.next_question:
            raise Invalid(_("Answer at least one question."))
        return complete(principal, profile, stored, given, now=now)


def complete(
    principal: Principal,
    profile: FinancialProfile,
    stored: Answers,
    given: dict[str, JsonValue],
    *,
    now: datetime,
) -> Completed:
    """Let checked answers count. Needs a transaction and the owner's lock."""
    owner, actor = principal.owner, principal.actor
    values = {question.value: given[question.field] for question in TAGGED if question.field in given}
    steps = plan_memories(stored, given, find_memories(owner, lock=True))
    changes = set_tags(
        owner=owner,
        values=values,
        source=TagSource.USER,
        actor=actor,
        now=now,
    )
    done = Completion(
        before=stored.given,
        given=given,
        was_completed=bool(profile.onboarding_completed),
        events=[change.event_id for change in changes if change.kind],
        # the prompt has the newest first: written so, they stand in the order of the questions
        memories=dict(write_step(step, principal=principal, now=now) for step in reversed(steps) if step.act in WRITES),
    )
    is_new = any(not stored.says(step.question, step.statement) for step in steps)
    if is_new or done.events or done.memories or not done.was_completed:
        details = {"tags_set": len(done.events), "memories_written": len(done.memories)}
        record_audit(
            now=now,
            actor=actor,
            tool_call="onboarding_completed",
            owner_id=owner.pk,
            details=details,
        )
        stored.last = done
    draft = {name: answer for name, answer in stored.draft.items() if name not in given}
    stored.draft = draft if any(answer is not None for answer in draft.values()) else {}
    stored.given = stored.given | given
    store_answers(profile, stored, now=now, is_completed=True)
    return Completed(len(values), len(done.events), len(done.memories))


def write_step(
    step: MemoryStep,
    *,
    principal: Principal,
    now: datetime,
) -> tuple[int, tuple[int, int]]:
    """Write, change or restore the memory of a question; return its id, its version, and the one before, 0 for none."""
    owner, live = principal.owner, step.memory if step.act is MemoryAct.EDIT else None
    if memory := live or find_undone(owner, step.question, now=now):
        if not live:
            restore_memories(
                principal=principal,
                owner=owner,
                ids=[memory.pk],
                now=now,
                reason=REASON,
            )
        changes = Changes(content=step.statement)
        changed = edit_memory(
            principal=principal,
            memory_id=memory.pk,
            changes=changes,
            now=now,
            reason=REASON,
        )
        return memory.pk, (changed.version, live.version if live else 0)
    written_by = Provenance(Source.USER_MANUAL, principal.actor, ORIGIN + step.question)
    fact_type = fact_type_of(step.question)
    draft = Draft(
        Category.PERSONALIZATION,
        step.statement,
        written_by,
        fact_type=fact_type,
    )
    memory = write_memory(
        owner_id=owner.pk,
        draft=draft,
        now=now,
        reasoning=REASON,
    )
    return memory.pk, (memory.version, 0)


def undo_completion(*, principal: Principal, now: datetime) -> bool:
    """Undo what the last completion changed, and only that; say whether all of it could be undone.

    Tags have the value of before, memories that it wrote go to the trash, those that it changed say again what they
    said, and its answers are those of a run that is not finished. What was changed since stays. Raises NotFound.
    """
    owner, actor = principal.owner, principal.actor
    with transaction.atomic():
        profile, stored = lock_answers(owner, now)
        last = or_not_found(stored.last, _("There is nothing left to undo."))
        undone = [undo_tag(owner, event_id, actor=actor, now=now) for event_id in last.events]
        rows = [row for row in lock_memories(last.memories) if row.owner_id == owner.pk and row.deleted_at is None]
        as_left = [row for row in rows if row.version == last.memories[row.pk][0]]
        for row in as_left:
            if before := row.revisions.filter(version=last.memories[row.pk][1]).first():
                changes = Changes(content=before.content)
                edit_memory(
                    principal=principal,
                    memory_id=row.pk,
                    changes=changes,
                    now=now,
                    reason=REASON,
                )
        if written := [row.pk for row in as_left if not last.memories[row.pk][1]]:
            delete_memories(
                principal=principal,
                owner=owner,
                ids=written,
                now=now,
                reason=REASON,
            )
        record_audit(
            now=now,
            actor=actor,
            tool_call="onboarding_undone",
            owner_id=owner.pk,
        )
        answers = Answers(given=last.before, draft=last.given | stored.drafted)
        store_answers(profile, answers, now=now, is_completed=last.was_completed)
    return all(undone) and len(as_left) == len(last.memories)


def undo_tag(owner: User, event_id: int, *, actor: str, now: datetime) -> bool:
    """Give a tag back what counted before; say whether it had not changed since."""
    try:
        undo_change(
            owner=owner,
            event_id=event_id,
            actor=actor,
            now=now,
        )
    except (Conflict, NotFound):
        return False
    return True


def lock_answers(owner: User, now: datetime) -> tuple[FinancialProfile, Answers]:
    """Return the profile of an owner with its answers, under the owner's lock. Needs a transaction."""
    profile = lock_profile(owner, now)
    return profile, Answers.parse(profile.onboarding_answers_json)


def store_answers(
    profile: FinancialProfile,
    answers: Answers,
    *,
    now: datetime,
    is_completed: bool | None = None,
) -> None:
    """Store what changed of the answers and of the flag."""
    flag = profile.onboarding_completed if is_completed is None else int(is_completed)
    text = answers.dump()
    if (text, flag) != (profile.onboarding_answers_json, profile.onboarding_completed):
        profile.onboarding_answers_json, profile.onboarding_completed, profile.updated_at = text, flag, now
        profile.save(update_fields=["onboarding_answers_json", "onboarding_completed", "updated_at"])
