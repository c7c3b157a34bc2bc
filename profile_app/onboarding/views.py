"""`/onboarding/`: five questions, one on a screen; what the agent will read is shown before it counts."""

from http import HTTPStatus

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
from profile_app.onboarding.core import MAX_CAPITAL_CHARS, Question
from profile_app.onboarding.pages import CHOICES, TEXTS, Known
from profile_app.onboarding.services import check_answers, finish_run, save_answer, undo_completion
from profile_app.portrait.core.tags import MULTIPLE
from profile_app.portrait.views.owner import open_owner


@page(Act.PROFILE_READ)
def overview(request: PageRequest) -> HttpResponse:
    """Show where to begin or continue, the answers that wait to be finished, or what they became."""
    return show_overview(request, open_owner(request))


@page(Act.PROFILE_WRITE, "GET", "POST")
def step(request: PageRequest, question: str) -> HttpResponse:
    """Ask one question; the answer is kept, and counts once the run is finished."""
    asked = find_question(question)
    if request.method != "POST":
        return show_step(request, asked)
    answer = None if "skip" in request.POST else read_answer(asked, request.POST)
    try:
        stored = save_answer(
            owner=request.user,
            question=asked,
            answer=answer,
            now=timezone.now(),
        )
    except Invalid as refusal:
        return show_step(request, asked, sent=answer, error=refusal.detail)
    following = None if stored.given else stored.next_question
    return see_other("onboarding:step", following) if following else see_other("onboarding:page")


@page(Act.PROFILE_WRITE, "POST")
def preview(request: PageRequest, question: str) -> HttpResponse:
    """Show while somebody chooses what the agent will read of it."""
    asked, known = find_question(question), Known.load(request.user)
    others = {name: answer for name, answer in known.stored.drafted.items() if name != asked.field}
    try:
        answers = others | check_answers({asked.field: read_answer(asked, request.POST)})
    except Invalid:
        answers = others
    return render_page(
        request,
        "profile_app/onboarding/_preview.html",
        {"preview": known.preview(answers)},
    )


@page(Act.PROFILE_WRITE, "POST")
def finish(request: PageRequest) -> HttpResponse:
    """Let the answers count."""
    try:
        done = finish_run(principal=request.principal, now=timezone.now())
    except Invalid as refusal:
        return show_overview(request, request.user, error=refusal.detail)
    if done and (done.tags_changed or done.memories_written):
        toast(
            request,
            _("Finished. Your agent reads it from the next session on."),
            reverse("onboarding:undo"),
        )
    elif done:  # else it is a second click
        toast(request, _("Finished. Nothing has changed."))
    return see_other("onboarding:page")


@page(Act.PROFILE_WRITE, "POST")
def undo(request: PageRequest) -> HttpResponse:
    """Undo what the last completion changed."""
    is_whole = undo_completion(principal=request.principal, now=timezone.now())
    undone = _("Undone. Your answers are kept, and count again once you finish.")
    toast(
        request,
        undone if is_whole else sentences(undone, _("What was changed since stays as it is.")),
    )
    return see_other("onboarding:page")


def find_question(name: str) -> Question:
    """Return the question of an address. Raises NotFound."""
    if name not in set(Question):
        raise NotFound(_("There is no such question."))
    return Question(name)


def read_answer(question: Question, sent: QueryDict) -> JsonValue:
    """Return what a form answers, unchecked."""
    return list(sent.getlist("answer")) if question in MULTIPLE else sent.get("answer", "")


def show_step(
    request: PageRequest,
    question: Question,
    *,
    sent: JsonValue = None,
    error: str = "",
) -> HttpResponse:
    """Answer the page of one question; with an `error` it shows what was `sent`."""
    known, questions = Known.load(request.user), list(Question)
    stored, place = known.stored, questions.index(question)
    answer = sent if error else (stored.given | stored.drafted).get(question.field)
    is_new = not error and answer is not None
    context = {
        "title": TEXTS[question].title,
        "asked": TEXTS[question],
        "question": question,
        "number": place + 1,
        "progress": known.progress(question),
        "choices": CHOICES.get(question, ()),
        "is_multiple": question in MULTIPLE,
        "chosen": answer if isinstance(answer, list) else [answer],
        "text": "" if answer is None else answer,
        "max_chars": MAX_CAPITAL_CHARS,
        "error": error,
        "back_url": reverse("onboarding:step", args=[questions[place - 1]]) if place else reverse("onboarding:page"),
        "preview": known.preview(stored.drafted | ({question.field: answer} if is_new else {})),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
    return render_page(
        request,
        "profile_app/onboarding/step.html",
        context,
        status=status,
    )


def show_overview(
    request: PageRequest,
    owner: User,
    *,
    error: str = "",
) -> HttpResponse:
    """Answer the page of all answers; of another owner without forms."""
    known, is_own = Known.load(owner, request.user), owner == request.user
    stored = known.stored
    is_begun = bool(known.profile.onboarding_completed or stored.drafted or not stored.next_question)
    context = {
        "title": _("Your five answers") if is_begun and is_own else _("Five questions"),
        "is_own": is_own,
        "owner_name": "" if is_own else owner.username,
        "profile": known.profile,
        "stored": stored,
        "is_begun": is_begun,
        "progress": known.progress(),
        "rows": known.rows(),
        "preview": known.preview(stored.drafted or stored.given),
        "error": error,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
    return render_page(
        request,
        "profile_app/onboarding/page.html",
        context,
        status=status,
    )
