"""Onboarding answers of a key where a person answered: it may only propose them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy
from pydantic import JsonValue

from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.core.vocabulary import PERSONS, is_named_key
from minara_site.kernel.proposals.kinds import Proposed
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import propose
from profile_app.onboarding.core import QUESTIONS, TAGGED, Answers
from profile_app.onboarding.services import check_answers, complete_onboarding
from profile_app.portrait.proposals import is_declared_by_person
from profile_app.portrait.selectors.profile import load_profile

ONBOARDING, ANSWER = "onboarding", "answer"


class OnboardingProposed(Proposed):
    """The answers of a user to the five questions."""

    name = ONBOARDING
    actions: ClassVar = {ANSWER: gettext_lazy("Answer the onboarding")}

    def title(self, proposal: ProposedChange) -> str:
        return _("Onboarding")

    def url(self, proposal: ProposedChange) -> str:
        return reverse("onboarding:page")

    def before(self, proposal: ProposedChange) -> str | None:
        given = answers_of(proposal.owner)
        return answer_lines({name: given.get(name) for name in proposal.after})

    def after(self, proposal: ProposedChange) -> str:
        return answer_lines(proposal.after)

    def seen(self, owner: User, key: str) -> str:
        return content_digest(answer_lines(answers_of(owner)))

    def apply(self, proposal: ProposedChange, *, principal: Principal, now: datetime) -> None:
        complete_onboarding(principal=principal, answers=proposal.after, now=now)


def answers_of(owner: User) -> dict[str, Any]:
    """Return what a user answered, by question."""
    return dict(Answers.parse(load_profile(owner.pk).onboarding_answers_json or "{}").given)


def answer_lines(answers: Mapping[str, Any]) -> str:
    """Return answers as lines of text."""
    said = {name: ", ".join(value) if isinstance(value, list) else value for name, value in answers.items()}
    nothing = _("no answer")
    return "\n".join(f"{name}: {nothing if value is None else value}" for name, value in said.items())


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
    about: dict[str, Any] = {"owner": principal.owner, "actor": principal.actor, "now": now}
    return propose(kind=ONBOARDING, key="answers", action=ANSWER, after=given, **about)


def did_person_answer(owner: User, given: Mapping[str, JsonValue]) -> bool:
    """Say whether a person completed the onboarding, or declared a tag that these answers set. Five queries at most."""
    persons = Q(*(("actor__startswith", kind) for kind in PERSONS), _connector=Q.OR)
    if AuditEntry.objects.filter(persons, owner=owner, tool_call="onboarding_completed").exists():
        return True
    return any(is_declared_by_person(owner, QUESTIONS[name]) for name in given if QUESTIONS[name] in TAGGED)
