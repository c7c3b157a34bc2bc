"""Onboarding answers of a key where a person answered: it may only propose them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy
from pydantic import JsonValue

from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import did_person
from minara_site.kernel.core.vocabulary import is_named_key
from minara_site.kernel.proposals.kinds import Columns, Proposed
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import propose
from profile_app.onboarding.core import QUESTIONS, TAGGED, Answers, Question
from profile_app.onboarding.pages import TEXTS, answer_label
from profile_app.onboarding.services import check_answers, complete_onboarding, undo_completion
from profile_app.portrait.proposals import is_declared_by_person
from profile_app.portrait.selectors.profile import load_profile

ONBOARDING, ANSWER = "onboarding", "answer"


class OnboardingProposed(Proposed):
    """The answers of a user to the five questions."""

    name, page = ONBOARDING, "onboarding:page"
    label = gettext_lazy("Onboarding")
    actions: ClassVar = {ANSWER: gettext_lazy("Answer the onboarding")}
    labels: ClassVar = {question.field: TEXTS[question].name for question in Question}

    def value_label(self, name: str, value: Any) -> str:
        return answer_label(QUESTIONS[name], value)

    def read(self, owner: User, key: str) -> dict[str, Any]:
        return dict(Answers.parse(load_profile(owner.pk).onboarding_answers_json or "{}").given)

    def apply(self, proposal: ProposedChange, columns: Columns, *, principal: Principal, now: datetime) -> None:
        complete_onboarding(principal=principal, answers=columns, now=now)

    def undo(self, proposal: ProposedChange, *, principal: Principal, now: datetime) -> None:
        undo_completion(principal=principal, now=now)


def propose_answers(
    *,
    principal: Principal,
    answers: Mapping[str, JsonValue],
    now: datetime,
) -> ProposedChange | None:
    """Propose answers where a person gave one of them; None where the caller may give them itself. Raises Invalid."""
    given = check_answers(answers)
    if not is_named_key(principal.actor) or not given or not did_person_answer(principal.owner, given):
        return None
    about: dict[str, Any] = {"kind": ONBOARDING, "key": "answers", "action": ANSWER, "now": now}
    stored = OnboardingProposed().read(principal.owner, "answers")
    return propose(principal=principal, after=stored | given, **about)


def did_person_answer(owner: User, given: Mapping[str, JsonValue]) -> bool:
    """Say whether a person completed the onboarding, or declared a tag that these answers set. Five queries at most."""
    return did_person(owner.pk, "onboarding_completed") or any(
        is_declared_by_person(owner, QUESTIONS[name]) for name in given if QUESTIONS[name] in TAGGED
    )
