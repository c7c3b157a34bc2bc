"""Onboarding answers of a key where a person answered: it may only propose them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy
from pydantic import JsonValue

from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import did_person
from minara_site.kernel.core.vocabulary import is_named_key
from minara_site.kernel.errors import Conflict
from minara_site.kernel.proposals.kinds import Columns, Proposed
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import propose
from profile_app.onboarding.core import QUESTIONS, TAGGED, Answers, Question
from profile_app.onboarding.pages import TEXTS, answer_label
from profile_app.onboarding.services import check_answers, complete_onboarding, undo_completion
from profile_app.portrait.proposals import did_person_set
from profile_app.portrait.selectors.profile import load_profile
from profile_app.portrait.selectors.tags import list_tags, value_of

ONBOARDING, ANSWER = "onboarding", "answer"


class OnboardingProposed(Proposed):
    """The answers of a user to the five questions."""

    name, page = ONBOARDING, "onboarding:page"
    label = gettext_lazy("Onboarding")
    actions = {ANSWER: gettext_lazy("Answer the onboarding")}
    labels = {question.field: TEXTS[question].name for question in Question}

    def value_label(self, name: str, value: Any) -> str:
        return answer_label(QUESTIONS[name], value)

    def read(self, owner: User, key: str) -> dict[str, Any]:
        given = Answers.parse(load_profile(owner.pk).onboarding_answers_json or "{}").given
        tags = {tag.name: value_of(tag.name, tag.value) for tag in list_tags(owner=owner)}
        return {**given, **{question.field: tags[question] for question in TAGGED if question in tags}}

    def apply(self, proposal: ProposedChange, columns: Columns, *, principal: Principal, now: datetime) -> None:
        changed = {name: value for name, value in columns.items() if value != proposal.former.get(name)}
        complete_onboarding(principal=principal, answers=changed, now=now)

    def undo(self, proposal: ProposedChange, *, principal: Principal, now: datetime) -> None:
        if not undo_completion(principal=principal, now=now):
            raise Conflict(_("It changed since. Nothing was undone."), code="changed")


def propose_answers(
    *,
    principal: Principal,
    answers: Mapping[str, JsonValue],
    now: datetime,
) -> ProposedChange | None:
    """Propose answers where a person gave one of them; None where the caller may give them itself. Raises Invalid."""
    given, stored = check_answers(answers), OnboardingProposed().read(principal.owner, ONBOARDING)
    changed = {name for name, value in given.items() if value != stored.get(name)}
    if not is_named_key(principal.actor) or not any(did_person_answer(principal.owner, name) for name in changed):
        return None
    about: dict[str, Any] = {"kind": ONBOARDING, "key": ONBOARDING, "action": ANSWER, "now": now}
    return propose(principal=principal, after=stored | given, **about)


def did_person_answer(owner: User, name: str) -> bool:
    """Say whether a person ever answered this question, or set its tag. Two queries at most."""
    if QUESTIONS[name] in TAGGED:
        return did_person_set(owner, QUESTIONS[name])
    has_answered = name in OnboardingProposed().read(owner, ONBOARDING)
    return has_answered and did_person(owner.pk, "onboarding_completed")
