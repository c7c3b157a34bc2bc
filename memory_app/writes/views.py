"""`/ops/writes/`: who writes what, what stands out, and taking it back: look first, then do exactly that."""

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory_app.writes.core.entries import IMPORT
from memory_app.writes.core.lights import Kind, Light
from memory_app.writes.forms import ConfirmForm, SinceForm
from memory_app.writes.listing import ROWS
from memory_app.writes.models import WriteRollback
from memory_app.writes.selectors.lights import load_lights
from memory_app.writes.selectors.plans import Preview, get_rollback, preview_roll_back, preview_undo
from memory_app.writes.selectors.writers import Window, list_rows_of, load_writers, name_writers
from memory_app.writes.services import check_undoable, roll_back, undo_roll_back
from memory_app.writes.shown import EFFECTS, EFFECTS_OF_UNDO, TITLES, show_left, show_lights, show_plan, undo_address
from minara_site.access.access_log import log_access
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.plain_text import storable_problem
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import load_page, render_list
from minara_site.web.responses import render_page, see_other, toast

WINDOWS = {
    Window.DAY: gettext_lazy("24 hours"),
    Window.WEEK: gettext_lazy("7 days"),
    Window.MONTH: gettext_lazy("30 days"),
}
MOST_ROLLBACKS = 10
DEFAULT_SPAN = timedelta(days=1)


@page(Act.WRITES_READ)
def writes(request: PageRequest) -> HttpResponse:
    """Show who wrote how much in a window, what stands out, and the newest roll-backs."""
    now, reader = timezone.now(), request.user
    asked = request.GET.get("window", "")
    window = Window(asked) if asked in set(Window) else Window.DAY
    writers, lights = load_writers(window=window, now=now), load_lights(now=now)
    rollbacks = list(WriteRollback.objects.order_by("-at", "-pk")[:MOST_ROLLBACKS])
    actors = {light.writer: light.writer for light in lights}
    actors |= {each.actor: each.actor for each in rollbacks} | {row.name: row.actor for row in writers.rows}
    names = name_writers(actors, reader=reader)
    context = {
        "title": _("Writers"),
        "windows": [(each, words, each == window) for each, words in WINDOWS.items()],
        "rows": [(row, names[row.name], undo_address(row.name, row.first_at)) for row in writers.rows],
        "read_since": writers.read_since,
        "lights": show_lights(lights, names),
        "rollbacks": [(each, names[each.actor], total_of(each)) for each in rollbacks],
    }
    return render_page(request, "memory_app/writes/page.html", context)


@page(Act.WRITES_READ)
def rows(request: PageRequest) -> HttpResponse:
    """List the memories of one writer, or those that one of its lights is about."""
    now, writer = timezone.now(), asked_writer(request)
    found = list_rows_of(writer).select_related("owner")
    light = find_light(request.GET.get("light", ""), writer, now=now)
    if light is not None and light.ids:
        found = found.filter(pk__in=light.ids)
    shown = load_page(ROWS, request, found, ignore=("writer", "light"))
    shown = shown.with_rows([masked_for(request.user, row) for row in shown.rows])
    leave_traces(request, {row.owner_id for row in shown.rows}, now=now)
    context = {
        "title": writer_words(writer, request.user),
        "lights": show_lights([light], {writer: writer_words(writer, request.user)}) if light else [],
        "undo_url": undo_address(writer, light.since if light else now - DEFAULT_SPAN),
    }
    return render_list(request, "memory_app/writes/rows.html", shown, context)


@page(Act.WRITES_READ)
def preview(request: PageRequest) -> HttpResponse:
    """Show what undoing everything that a writer wrote since a moment would do."""
    now = timezone.now()
    asked = {"writer": request.GET.get("writer", ""), "since": request.GET.get("since") or now - DEFAULT_SPAN}
    form = SinceForm(asked)
    if not form.is_valid():
        context = {"title": _("Roll back"), "form": form}
        return render_page(request, "memory_app/writes/preview.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    writer, since = form.cleaned_data["writer"], form.cleaned_data["since"]
    try:
        found = preview_roll_back(writer=writer, since=since, now=now)
    except Invalid as refusal:
        form.add_error(None, refusal.detail)
        context = {"title": title_of(writer, request.user), "form": form}
        return render_page(request, "memory_app/writes/preview.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    shown = SinceForm(initial={"writer": writer, "since": since})
    context = {"title": title_of(writer, request.user), "form": shown, "is_import": writer.startswith(IMPORT)}
    context |= plan_context(request, found, now=now)
    context["writer"], context["since"] = writer, since
    return render_page(request, "memory_app/writes/preview.html", context)


@page(Act.WRITES_ROLL_BACK, methods=("GET", "POST"))
def apply(request: PageRequest) -> HttpResponse:
    """Ask why and do exactly what was shown; when it changed meanwhile, show what it would be now."""
    now = timezone.now()
    asked = SinceForm(request.GET)
    if not asked.is_valid():
        return see_other("writes:page")
    writer, since = asked.cleaned_data["writer"], asked.cleaned_data["since"]
    form = ConfirmForm(
        writer, request.POST if request.method == "POST" else None, initial={"plan": request.GET.get("plan", "")}
    )
    if request.method == "POST" and form.is_valid():
        try:
            record = roll_back(
                principal=request.principal,
                writer=writer,
                since=since,
                sha256=form.cleaned_data["plan"],
                reason=form.cleaned_data["reason"],
                now=now,
            )
        except Conflict as conflict:
            return show_stale(request, form, conflict, preview_roll_back(writer=writer, since=since, now=now), now=now)
        toast(request, _("Rolled back. It can be undone here."))
        return see_other("writes:rollback", record.pk)
    found = preview_roll_back(writer=writer, since=since, now=now)
    return show_confirm(request, form, found, title=title_of(writer, request.user), now=now)


@page(Act.WRITES_READ)
def rollback(request: PageRequest, rollback_id: int) -> HttpResponse:
    """Show what a roll-back did, and whether it was undone."""
    record = get_rollback(rollback_id)
    undone = getattr(record, "undone_by", None)
    effects = EFFECTS_OF_UNDO if record.undoes_id else EFFECTS
    names = name_actors({each.actor for each in (record, undone) if each}, reader=request.user)
    context = {
        "title": _("Roll-back %(number)d") % {"number": record.pk},
        "record": record,
        "who": names[record.actor],
        "writer": writer_words(record.writer, request.user),
        "undone": undone,
        "left": show_left(record, reader=request.user),
        "undone_by": names[undone.actor] if undone else "",
        "parts": [(title, effects[kind], record.counts.get(kind, 0)) for kind, title in TITLES.items()],
        "ids": list(record.memories.order_by("memory_id").values_list("memory_id", flat=True)[:200]),
    }
    return render_page(request, "memory_app/writes/rollback.html", context)


@page(Act.WRITES_ROLL_BACK, methods=("GET", "POST"))
def undo(request: PageRequest, rollback_id: int) -> HttpResponse:
    """Show what undoing a roll-back would do, ask why, and do exactly that."""
    now, record = timezone.now(), get_rollback(rollback_id)
    check_undoable(record)
    data = request.POST if request.method == "POST" else None
    found = preview_undo(record)
    form = ConfirmForm(record.writer, data, initial={"plan": found.sha256})
    if request.method == "POST" and form.is_valid():
        try:
            undone = undo_roll_back(
                principal=request.principal,
                rollback_id=rollback_id,
                sha256=form.cleaned_data["plan"],
                reason=form.cleaned_data["reason"],
                now=now,
            )
        except Conflict as conflict:
            return show_stale(request, form, conflict, preview_undo(record), now=now, is_undo=True)
        toast(request, _("Undone: the rows stand as they stood before the roll-back."))
        return see_other("writes:rollback", undone.pk)
    title = _("Undo roll-back %(number)d") % {"number": record.pk}
    return show_confirm(request, form, found, title=title, now=now, is_undo=True)


def show_confirm(
    request: PageRequest,
    form: ConfirmForm,
    found: Preview,
    *,
    title: str,
    now: datetime,
    is_undo: bool = False,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the plan with the form that carries it out; a plan that is not the one of the form is a conflict."""
    if status == HTTPStatus.OK and form["plan"].value() != found.sha256:
        form = ConfirmForm(form.writer, initial={"plan": found.sha256})
        status = HTTPStatus.CONFLICT
    elif form.errors:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    form.focus_first()
    context = {"title": title, "confirm": form, "is_undo": is_undo, "is_stale": status == HTTPStatus.CONFLICT}
    context |= plan_context(request, found, now=now, is_undo=is_undo)
    return render_page(request, "memory_app/writes/confirm.html", context, status=status)


def show_stale(
    request: PageRequest,
    form: ConfirmForm,
    conflict: Conflict,
    found: Preview,
    *,
    now: datetime,
    is_undo: bool = False,
) -> HttpResponse:
    """Answer 409 with the plan as it is now and the reason kept. Raises the conflict when it is another one."""
    if conflict.problem_code != "stale":
        raise conflict
    again = ConfirmForm(form.writer, initial={"plan": found.sha256, "reason": form.cleaned_data["reason"]})
    title = _("It changed meanwhile")
    return show_confirm(request, again, found, title=title, now=now, is_undo=is_undo, status=HTTPStatus.CONFLICT)


def plan_context(request: PageRequest, found: Preview, *, now: datetime, is_undo: bool = False) -> dict[str, Any]:
    """Return a plan for a page; who looks at rows of others leaves a trace."""
    start = request.GET.get("from", "")
    shown = show_plan(
        found,
        kind=request.GET.get("show", ""),
        start=int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 0,  # noqa: PLR2004
        reader=request.user,
        is_undo=is_undo,
    )
    leave_traces(request, shown.owner_ids, now=now)
    return {"shown": shown, "plan": found.sha256, "is_empty": found.plan.is_empty}


def leave_traces(request: PageRequest, owner_ids: "set[int] | frozenset[int]", *, now: datetime) -> None:
    """Keep for the owners that an operator looked at their memories."""
    log_access(principal=request.principal, owner_ids=owner_ids, kind="memories", now=now)


def asked_writer(request: PageRequest) -> str:
    """Return the writer that the address names. Raises Invalid."""
    writer = request.GET.get("writer", "")
    if not writer or storable_problem(writer) or len(writer) > 80:  # noqa: PLR2004 - the column of the log
        raise Invalid(_("Choose a writer from the list of writes."), code="no_writer")
    return writer


def find_light(kind: str, writer: str, *, now: datetime) -> Light | None:
    """Return the light of this kind about a writer, None when it is out or nobody asked."""
    if kind not in set(Kind):
        return None
    return next((each for each in load_lights(now=now) if (each.kind, each.writer) == (kind, writer)), None)


def title_of(writer: str, reader: User) -> str:
    """Return the heading of a preview."""
    return _("Roll back %(writer)s") % {"writer": writer_words(writer, reader)}


def writer_words(writer: str, reader: User) -> str:
    """Return in words who a writer is."""
    if writer.startswith(IMPORT):
        return _("import %(run)s") % {"run": writer.removeprefix(IMPORT)}
    return name_actors([writer], reader=reader)[writer]


def total_of(record: WriteRollback) -> int:
    """Return how many rows a roll-back changed."""
    return sum(count for kind, count in record.counts.items() if kind != "left")
