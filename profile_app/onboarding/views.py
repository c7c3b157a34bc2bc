"""`/onboarding/`: five questions, one on a screen; what the agent will read is shown before it counts."""

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import JsonValue

from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid, NotFound
from minara_site.shell.pages import PageRequest, page
from minara_site.web.labels import sentences
from minara_site.web.responses import render_page, see_other, toast
from profile_app.onboarding.core import MAX_CAPITAL_CHARS, Answers, Question
from profile_app.onboarding.pages import (
    ASKED,
    CHOICES,
    Preview,
    hidden_notes,
    list_rows,
    list_steps,
    neighbour,
    preview_of,
)
from profile_app.onboarding.selectors import find_memories, load_answers
from profile_app.onboarding.services import (
    check_answers,
    complete_onboarding,
    discard_draft,
    save_answer,
    undo_completion,
)
from profile_app.portrait.core.tags import MULTIPLE
from profile_app.portrait.selectors.profile import load_profile
from profile_app.portrait.selectors.tags import list_tags


@page(Act.PROFILE_READ)
def overview(request: PageRequest) -> HttpResponse:
    """Show where to continue, the answers that wait to be finished, or what the answers became."""
    return show_overview(request)


@page(Act.PROFILE_WRITE, methods=("GET", "POST"))
def step(request: PageRequest, step: str) -> HttpResponse:
    """Ask one question; the answer is kept, and counts once the run is finished."""
    question = find_question(step)
    if request.method != "POST":
        stored, _is_completed = load_answers(request.user)
        return show_step(request, question, stored, stored.shown.get(question.field))
    answer = None if "skip" in request.POST else read_answer(question, request.POST)
    try:
        stored = save_answer(owner=request.user, question=question, answer=answer, now=timezone.now())
    except Invalid as refusal:
        return show_step(request, question, load_answers(request.user)[0], answer, error=refusal.errors[0].message)
    following = None if stored.given else stored.next_question
    return see_other("onboarding:step", following) if following else see_other("onboarding:page")


@page(Act.PROFILE_WRITE, methods=("POST",))
def preview(request: PageRequest, step: str) -> HttpResponse:
    """Show while somebody chooses what the agent will read, with the answer that is chosen now."""
    question = find_question(step)
    stored, _is_completed = load_answers(request.user)
    answer = read_answer(question, request.POST)
    context = {"preview": preview_with(request.user, stored, {**stored.drafted, question.field: answer})}
    return render_page(request, "profile_app/onboarding/_preview.html", context)


@page(Act.PROFILE_WRITE, methods=("POST",))
def finish(request: PageRequest) -> HttpResponse:
    """Let the answers count."""
    stored, is_completed = load_answers(request.user)
    if is_completed and not stored.drafted:  # a second click
        return see_other("onboarding:page")
    try:
        done = complete_onboarding(principal=request.principal, answers=stored.drafted, now=timezone.now())
    except Invalid as refusal:
        return show_overview(request, error=refusal.detail)
    if done.tags_set or done.memories_written:
        toast(request, _("Finished. Your agent reads it from the next session on."), reverse("onboarding:undo"))
    else:
        toast(request, _("Finished. Nothing has changed."))
    return see_other("onboarding:page")


@page(Act.PROFILE_WRITE, methods=("POST",))
def undo(request: PageRequest) -> HttpResponse:
    """Undo what the last completion wrote."""
    is_whole = undo_completion(principal=request.principal, now=timezone.now())
    undone = _("Undone. Your answers are kept, and count again once you finish.")
    toast(request, undone if is_whole else sentences(undone, _("What was changed since stays as it is.")))
    return see_other("onboarding:page")


@page(Act.PROFILE_WRITE, methods=("POST",))
def discard(request: PageRequest) -> HttpResponse:
    """Put the answers of a run that is not finished aside, or take them up again."""
    take_up = "take_up" in request.POST
    discard_draft(owner=request.user, now=timezone.now(), take_up=take_up)
    toast(request, _("Your answers are back.") if take_up else _("Discarded. You can take them up again."))
    return see_other("onboarding:page")


def find_question(name: str) -> Question:
    """Return the question of an address. Raises NotFound."""
    if name not in set(Question):
        raise NotFound(_("There is no such question."))
    return Question(name)


def read_answer(question: Question, sent: QueryDict) -> JsonValue:
    """Return what a form answers, unchecked."""
    return list(sent.getlist("answer")) if question in MULTIPLE else sent.get("answer", "")


def preview_with(user: User, stored: Answers, answers: dict[str, JsonValue]) -> Preview:
    """Return what the agent will read of these answers; a wrong one is left out. Three queries."""
    now, valid = timezone.now(), dict[str, JsonValue]()
    for name, answer in answers.items():
        try:
            valid |= check_answers({name: answer})
        except Invalid:
            continue
    tags = {tag.name: tag for tag in list_tags(owner=user)}
    return preview_of(stored, valid, find_memories(user, now=now), tags, load_profile(user.pk), now=now)


def show_step(
    request: PageRequest, question: Question, stored: Answers, answer: JsonValue, *, error: str = ""
) -> HttpResponse:
    """Answer the page of one question."""
    answers = stored.drafted if error or answer is None else {**stored.drafted, question.field: answer}
    before = neighbour(question, -1)
    context: dict[str, Any] = {
        "title": ASKED[question].title,
        "asked": ASKED[question],
        "question": question,
        "number": list(Question).index(question) + 1,
        "steps": list_steps(stored, question),
        "choices": CHOICES.get(question, ()),
        "is_multiple": question in MULTIPLE,
        "chosen": answer if isinstance(answer, list) else [answer],
        "text": "" if answer is None else answer,
        "max_chars": MAX_CAPITAL_CHARS,
        "error": error,
        "back_url": reverse("onboarding:step", args=[before]) if before else reverse("onboarding:page"),
        "preview": preview_with(request.user, stored, answers),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
    return render_page(request, "profile_app/onboarding/step.html", context, status=status)


def show_overview(request: PageRequest, *, error: str = "") -> HttpResponse:
    """Answer the page of all answers."""
    now, user = timezone.now(), request.user
    profile = load_profile(user.pk)
    stored = Answers.parse(profile.onboarding_answers_json)
    memories, tags = find_memories(user, now=now), {tag.name: tag for tag in list_tags(owner=user)}
    is_draft = bool(stored.drafted)
    answers = stored.drafted if is_draft else stored.given
    context: dict[str, Any] = {
        "title": _("Your five answers") if stored.shown else _("Five questions"),
        "stored": stored,
        "is_completed": bool(profile.onboarding_completed),
        "is_draft": is_draft,
        "next": stored.next_question,
        "first": Question.FINANCE_KNOWLEDGE,
        "steps": list_steps(stored),
        "rows": list_rows(stored, memories, tags, is_draft=is_draft),
        "preview": preview_of(stored, answers, memories, tags, profile, now=now) if answers else None,
        "hidden": hidden_notes(profile),
        "error": error,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
    return render_page(request, "profile_app/onboarding/page.html", context, status=status)
