"""`/ops/writes/`: who writes what, which writing is unusual, and rolling it back: preview, then exactly that."""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.writes.core.anomalies import AnomalyKind
from memory_app.writes.forms import ConfirmForm, SinceForm
from memory_app.writes.models import WriteRollback
from memory_app.writes.pages import (
    ROWS,
    roll_back_url,
    show_anomalies,
    show_plan,
    show_record,
    show_writers,
    writer_label,
)
from memory_app.writes.selectors.anomalies import list_rows_of, load_anomalies
from memory_app.writes.selectors.plans import (
    RollbackPlan,
    find_first_write,
    get_rollback,
    preview_roll_back,
    preview_undo,
)
from memory_app.writes.selectors.writers import Period, list_runs, load_writers, name_writers
from memory_app.writes.services import check_undoable, roll_back, undo_roll_back
from minara_site.access.access_log import log_access, log_listed
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.governance.subjects import subject_label, subject_url
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.plain_text import storable_problem
from minara_site.shell.pages import PageRequest, page
from minara_site.web.lists import load_page, render_list
from minara_site.web.responses import form_status, render_page, see_other, toast

MAX_ROLLBACKS = 10


@page(Act.WRITES_READ)
def writes(request: PageRequest) -> HttpResponse:
    """Show who wrote how much in a period, what is unusual, and the newest roll-backs."""
    now = timezone.now()
    chosen = request.GET.get("window", "")
    period = Period(chosen) if chosen in set(Period) else Period.DAY
    (writers, read_since), anomalies = load_writers(period=period, now=now), load_anomalies(now=now)
    rollbacks = list(WriteRollback.objects.order_by("-at", "-pk")[:MAX_ROLLBACKS])
    actors = {each.actor: each.actor for each in rollbacks} | {row.name: row.actor for row in writers}
    names = name_writers(actors, reader=request.user)
    context = {
        "title": _("Writers"),
        "periods": [(each, each.label, each is period) for each in Period],
        "writers": show_writers(writers, names),
        "read_since": read_since,
        "anomalies": show_anomalies(anomalies, principal=request.principal),
        "rollbacks": [(each, names[each.actor]) for each in rollbacks],
    }
    return render_page(request, "memory_app/writes/page.html", context)


@page(Act.WRITES_READ)
def rows(request: PageRequest) -> HttpResponse:
    """List the memories of one writer, or those that one of its anomalies is about. Raises Invalid."""
    now, writer, kind = timezone.now(), request.GET.get("writer", ""), request.GET.get("light", "")
    if not writer or storable_problem(writer) or len(writer) > 80:  # noqa: PLR2004 - the column of the log
        raise Invalid(_("Choose a writer from the list of writes."), code="no_writer")
    anomalies = load_anomalies(now=now) if kind in set(AnomalyKind) else []
    anomaly = next(
        (each for each in anomalies if (each.kind, each.writer) == (kind, writer)),
        None,
    )
    found, ids = list_rows_of(writer).select_related("owner"), anomaly.ids if anomaly else ()
    if ids:
        found = found.filter(pk__in=ids)
    listed = load_page(ROWS, request, found, ignore=("writer", "light"))
    listed = listed.with_rows([masked_for(request.user, row) for row in listed.rows])
    log_listed(request.principal, listed.rows, kind="memories", now=now)
    context = {
        "title": writer_label(writer, request.user),
        "is_part": bool(ids),
        "anomalies": show_anomalies([anomaly] if anomaly else [], principal=request.principal),
        "roll_back_url": roll_back_url(writer, anomaly.since if anomaly else None),
        "runs": [
            (each, subject_label(each["run"]), subject_url(each["run"], each["of"] or "")) for each in list_runs(writer)
        ],
    }
    return render_list(request, "memory_app/writes/rows.html", listed, context)


@page(Act.WRITES_READ)
def preview(request: PageRequest) -> HttpResponse:
    """Show what undoing everything that a writer wrote would do, or since a moment where the address names one."""
    now, context = timezone.now(), {"title": _("Roll back")}
    writer = request.GET.get("writer", "")
    first = None if request.GET.get("since") or storable_problem(writer) else find_first_write(writer)
    form = SinceForm({"writer": writer, "since": request.GET.get("since") or first or now})
    if form.is_valid():
        writer, since = form.cleaned_data["writer"], form.cleaned_data["since"]
        title = _("Roll back %(writer)s") % {"writer": writer_label(writer, request.user)}
        context = {"title": title, "writer": writer, "since": since}
        try:
            plan = preview_roll_back(writer=writer, since=since, now=now, actor=request.principal.actor)
            context |= plan_context(request, plan) | {"form": SinceForm(initial={"writer": writer, "since": since})}
        except Invalid as refusal:
            form.add_error(None, refusal.detail)
    return render_page(
        request,
        "memory_app/writes/preview.html",
        {"form": form, **context},
        status=form_status(form),
    )


@page(Act.WRITES_ROLL_BACK, "GET", "POST")
def apply(request: PageRequest) -> HttpResponse:
    """Roll a writer back by the plan that the address names."""
    now, form = timezone.now(), SinceForm(request.GET)
    if not form.is_valid():
        return see_other("writes:page")
    writer, since = form.cleaned_data["writer"], form.cleaned_data["since"]
    return confirm(
        request,
        writer,
        title=_("Roll back %(writer)s") % {"writer": writer_label(writer, request.user)},
        load_plan=partial(
            preview_roll_back,
            writer=writer,
            since=since,
            now=now,
            actor=request.principal.actor,
        ),
        act=partial(
            roll_back,
            principal=request.principal,
            writer=writer,
            since=since,
            now=now,
        ),
        shown=request.GET.get("plan", ""),
        done=_("Rolled back. It can be undone here."),
    )


@page(Act.WRITES_ROLL_BACK, "GET", "POST")
def undo(request: PageRequest, rollback_id: int) -> HttpResponse:
    """Undo a roll-back. Raises NotFound, and Conflict for one that was undone."""
    record = get_rollback(rollback_id)
    check_undoable(record)
    return confirm(
        request,
        record.writer,
        title=_("Undo roll-back %(number)d") % {"number": record.pk},
        load_plan=partial(preview_undo, record, actor=request.principal.actor),
        act=partial(
            undo_roll_back,
            principal=request.principal,
            rollback_id=rollback_id,
            now=timezone.now(),
        ),
        done=_("Undone: the rows are as they were before the roll-back."),
        is_undo=True,
    )


def confirm(
    request: PageRequest,
    writer: str,
    *,
    title: str,
    load_plan: Callable[[], RollbackPlan],
    act: Callable[..., WriteRollback],
    done: str,
    shown: str | None = None,
    is_undo: bool = False,
) -> HttpResponse:
    """Ask why and do exactly what was shown; when that is another plan by now, answer 409 with it, the reason kept.

    `shown` is the hash of the plan that the reader comes from, None for one that is first shown here.
    """
    form = ConfirmForm(writer, request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid():
        try:
            record = act(sha256=form.cleaned_data["plan"], reason=form.cleaned_data["reason"])
        except Conflict as conflict:
            if conflict.problem_code != "stale":
                raise
            title = _("This changed since you opened it")
        else:
            toast(request, done)
            return see_other("writes:rollback", record.pk)
    plan, status = load_plan(), HTTPStatus.OK
    form = form or ConfirmForm(writer, initial={"plan": plan.sha256 if shown is None else shown})
    if form["plan"].value() != plan.sha256:
        form = ConfirmForm(
            writer,
            initial={"plan": plan.sha256, "reason": form["reason"].value()},
        )
        status = HTTPStatus.CONFLICT
    elif form.errors:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    form.focus_first()
    context = {
        "title": title,
        "confirm": form,
        "is_undo": is_undo,
        "is_stale": status == HTTPStatus.CONFLICT,
    }
    context |= plan_context(request, plan, is_undo=is_undo)
    return render_page(
        request,
        "memory_app/writes/confirm.html",
        context,
        status=status,
    )


@page(Act.WRITES_READ)
def rollback(request: PageRequest, rollback_id: int) -> HttpResponse:
    """Show what a roll-back did, and whether it was undone."""
    record = get_rollback(rollback_id)
    undone = getattr(record, "undone_by", None)
    names = name_actors(
        {each.actor for each in (record, undone) if each},
        reader=request.user,
    )
    context = {
        "title": _("Roll-back %(number)d") % {"number": record.pk},
        "record": record,
        "who": names[record.actor],
        "writer": writer_label(record.writer, request.user),
        "undone": undone,
        "undone_by": names[undone.actor] if undone else "",
    }
    context |= show_record(record, reader=request.user)
    return render_page(request, "memory_app/writes/rollback.html", context)


def plan_context(
    request: PageRequest,
    plan: RollbackPlan,
    *,
    is_undo: bool = False,
) -> dict[str, Any]:
    """Return a plan for a page; that rows of other owners were shown is logged."""
    start = request.GET.get("from", "")
    view = show_plan(
        plan,
        effect=request.GET.get("show", ""),
        start=int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 0,  # noqa: PLR2004
        reader=request.user,
        is_undo=is_undo,
    )
    owner_ids = {row.owner_id for row, *_words in view.rows if row.owner_id is not None}
    log_access(
        principal=request.principal,
        owner_ids=owner_ids,
        kind="memories",
        now=timezone.now(),
    )
    return {
        "view": view,
        "plan": plan.sha256,
        "is_empty": plan.is_empty,
        "has_more": plan.has_more,
    }
