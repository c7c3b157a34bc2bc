"""The first steps of a new owner: real state where the data tell, a note where they do not (screens U-10)."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.console.home.selectors import Own
from minara_site.console.models import FirstStep, Step


@dataclass(frozen=True, slots=True)
class StepView:
    """One line of the list. Where `is_noted`, the act is a post that records the step and then shows the page."""

    title: str | Promise
    text: str | Promise
    act: str | Promise
    url: str
    is_done: bool
    is_noted: bool = False
    command: str = ""


def list_first_steps(user: User, own: Own) -> list[StepView]:
    """Return the steps in order; none once the list is put away."""
    if own.has_hidden_steps:
        return []
    return [
        StepView(
            _("Answer five questions"),
            _("They become tags and memories: your agent knows from the start who it talks to. Each can be skipped."),
            _("Continue") if own.onboarding.drafted else _("Begin"),
            reverse("onboarding:page"),
            own.has_onboarded,
        ),
        StepView(
            _("Bring in what you have"),
            _("From an OpenClaw or Hermes directory, or JSON lines; a dry run comes first. Or write one by hand."),
            _("Write one") if user.is_default else _("Import"),
            reverse("memories:new" if user.is_default else "bundle:imports"),
            own.has_memory,
            command=f"minara import DIRECTORY --from openclaw --user {user.username}" if user.is_default else "",
        ),
        StepView(
            _("Make an API key"),
            _("An agent signs in with it. Begin with one that reads and writes memory."),
            _("Make one"),
            reverse("access:key_new"),
            own.has_key,
        ),
        StepView(
            _("Connect your agent"),
            _("It lists its tools at /v1/tools. This is done when the key is used for the first time."),
            _("See calls"),
            reverse("api:openapi-view"),
            own.has_used_key,
        ),
        StepView(
            _("Look at what it will read"),
            _("The exact text that the next session begins with."),
            _("Open"),
            reverse("console:first_step", args=[Step.PROMPT_SEEN]),
            own.has_seen_prompt,
            is_noted=True,
        ),
    ]


def take_step(*, user: User, step: Step, now: datetime) -> None:
    """Note that somebody has taken a step; a second time changes nothing."""
    FirstStep.objects.bulk_create(
        [FirstStep(user=user, step=step, taken_at=now)],
        ignore_conflicts=True,
    )


def show_steps_again(*, user: User) -> None:
    """Bring the list back."""
    FirstStep.objects.filter(user=user, step=Step.HIDDEN).delete()
