"""`/undo/<id>/`: what undoing an act would do now, and doing it. Who may is the policy's act that `acts.py` names."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.table import load_acts
from minara_site.kernel.changes.core import Plan, Stay, Step
from minara_site.kernel.changes.kinds import Changes, changes_of
from minara_site.kernel.changes.models import Change, ChangeSet, SetState
from minara_site.kernel.changes.selectors import list_changes, plan_undo
from minara_site.kernel.changes.services import APPLY, AT_ONCE, UNDONE, apply_plan, stop
from minara_site.kernel.errors import Conflict, NotFound, or_not_found
from minara_site.kernel.guard.kinds import Label, StoredKind, stored_kinds
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import OVER, cancel_run
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.kernel.plain_text import storable_problem
from minara_site.kernel.unchanged import UnchangedReason
from minara_site.shell.pages import PageRequest, page
from minara_site.web.moments import number_label
from minara_site.web.responses import back, render_page, see_other, toast

MAX_SHOWN = 50


def undo_url(kind: str, row: Any, principal: Principal, acts: Collection[str] = ()) -> str | None:
    """Return where the last act on a row is undone, of these acts where some are named; None where nobody can."""
    found = find_undoable(kind, row, principal, acts)
    return reverse("undo", args=[found.pk]) if found else None


def find_undoable(kind: str, row: Any, principal: Principal, acts: Collection[str] = ()) -> ChangeSet | None:
    """Return the last act on a row that stands, of these acts where some are named, if this reader may undo it.

    What was undone, and its undo, do not stand. Behind one that they may not undo they undo none.
    """
    undone = set[int | None]()
    for change in reversed(list_changes(changes_of()[kind], [str(row.pk)])):
        found = change.set
        if found.pk in undone:
            continue
        if found.undoes_id is None:
            act = load_acts().get(found.act)
            if not (act and act.undone_by and principal.may(Act(act.undone_by))):
                return None
            if not acts or found.act in acts:
                return found
        undone.add(found.undoes_id)
    return None


def get_set(set_id: int, *, principal: Principal) -> tuple[ChangeSet, Owner]:
    """Return a set that this caller may undo, and whose rows of it: an owner their own, an operator all.

    Raises NotFound where none is theirs, and what the policy raises.
    """
    owner = EVERYONE if principal.is_operator else principal.owner
    change = or_not_found(
        Change.objects.for_owner(owner).filter(set__pk=set_id).select_related("set").first(),
        _("There is nothing to undo here."),
    )
    first: ChangeSet = change.set
    earlier = {each.set_id: each.set for each in list_changes(changes_of()[change.kind], [change.key])}
    while first.undoes_id:  # an undo changes rows of what it undoes, and no others
        first = earlier[first.undoes_id]
    act = load_acts().get(first.act)
    if not (act and act.undone_by):
        raise NotFound(_("There is nothing to undo here."))
    principal.require(Act(act.undone_by))
    return change.set, owner


def undo_set(
    set_id: int,
    *,
    principal: Principal,
    now: datetime,
    sha256: str = "",
    only: tuple[str, str] | None = None,
) -> tuple[ChangeSet, Plan]:
    """Undo an act as far as its rows are the caller's: exactly the plan with this hash, where one is given.

    `only` the row of this kind and key, where one is named. Raises what `get_set` raises, and Conflict: `running`;
    `stale` for another plan; `confirm` for one of many rows without a hash; `changed` when nothing is left to undo.
    """
    with transaction.atomic():
        found, owner = get_set(set_id, principal=principal)
        if SetState.RUNNING in {found.state, *found.undone_by.values_list("state", flat=True)}:
            raise still_running()
        plan = plan_undo([set_id], actor=principal.actor, now=now, owner=owner, only=only, lock=True)
        if sha256 not in {"", plan.sha256}:
            raise Conflict(_("This changed since you opened it. Here is what an undo would do now."), code="stale")
        if not plan.steps:
            raise Conflict(_("Nothing was undone: %(why)s.") % {"why": reasons_of(plan.stays)}, code="changed")
        if len(plan.steps) > AT_ONCE and not sha256:
            raise Conflict(_("These are many rows: look at what an undo would do first."), code="confirm")
        return apply_plan(plan, act=UNDONE, actor=principal.actor, undoes=found), plan


def reasons_of(stays: Sequence[Stay]) -> str:
    """Return why rows stay, each reason once; that it was undone already where none does."""
    return "; ".join(dict.fromkeys(str(stay.reason.label) for stay in stays)) or _("it was undone already")


def still_running() -> Conflict:
    """Return the refusal of what waits for a job."""
    return Conflict(_("This is still being carried out. Wait until it ends."), code="running")


@page(Act.UNDO, "GET", "POST")
def undo(request: PageRequest, change_set_id: int) -> HttpResponse:
    """Show what undoing an act would do, and do it; a large one is shown with its progress, and can be stopped."""
    principal, now, status = request.principal, timezone.now(), HTTPStatus.OK
    only = (request.GET["kind"], request.GET.get("key", "")) if "kind" in request.GET else None
    if any(map(storable_problem, only or ())):
        raise NotFound(_("There is nothing to undo here."))
    found, owner = get_set(change_set_id, principal=principal)
    if "stop" in request.POST or (found.state == SetState.RUNNING and request.method == "GET"):
        return show_running(request, found)
    if request.method == "POST":
        try:
            made, plan = undo_set(
                found.pk, principal=principal, now=now, sha256=request.POST.get("plan", ""), only=only
            )
        except Conflict as conflict:
            if conflict.problem_code == "confirm":
                return see_other("undo", found.pk)
            if conflict.problem_code != "stale":
                raise
            status = HTTPStatus.CONFLICT
        else:
            if made.state == SetState.RUNNING:
                return see_other("undo", made.pk)
            toast(request, done_label(plan), reverse("undo", args=[made.pk]))
            [(_title, url)] = show_rows(plan.steps[:1], reader=request.user)
            return back(request, url or "home")
    plan = plan_undo([found.pk], actor=principal.actor, now=now, owner=owner, only=only)
    stays = plan.stays[:MAX_SHOWN]
    reasons = [(stay.reason, stay.since.actor if stay.since else "") for stay in stays]
    shown, why = show_rows(stays, reader=request.user), label_reasons(reasons, reader=request.user)
    context = {
        "title": _("Undo: %(act)s") % {"act": load_acts()[found.act].label},
        "found": found,
        "is_stale": status == HTTPStatus.CONFLICT,
        "plan": plan,
        "counts": counts_of(step.kind for step in plan.steps),
        "rows": show_rows(plan.steps[:MAX_SHOWN], reader=request.user),
        "stays": [(*row, reason) for row, reason in zip(shown, why, strict=True)],
        "follows": counts_of(kind for kind, _key in plan.follows),
    }
    return render_page(request, "shell/undo.html", context, fragment="shell/_undo.html", status=status)


def show_running(request: PageRequest, found: ChangeSet) -> HttpResponse:
    """Show how far a set is to who asked for it, and to operators; they stop it. Raises Conflict for others."""
    if not (request.principal.is_operator or found.actor == request.principal.actor):
        raise still_running()
    run = JobRun.objects.filter(job=APPLY, arguments__set_id=found.pk).order_by("-pk").first()
    is_to_stop = "stop" in request.POST
    if is_to_stop and run and run.state not in OVER:
        cancel_run(run.pk, now=timezone.now())
    elif is_to_stop or run is None or run.state == RunState.CANCELLED:  # before a worker began
        stop(found.pk)
    else:
        context = {"title": _("Undo"), "found": found, "run": run, "has_failed": run.state == RunState.FAILED}
        return render_page(request, "shell/undo.html", context, fragment="shell/_undo.html")
    return see_other("undo", found.pk if found.changes.exists() else found.undoes_id)


def counts_of(kinds: Iterable[str]) -> list[tuple[Label, int]]:
    """Return how many rows there are of each kind, with its word."""
    return [(named(name).label, count) for name, count in Counter(kinds).items()]


def named(kind: str) -> StoredKind | Changes:
    """Return what says how rows of a kind are called: its text under guard, where it has one."""
    return stored_kinds().get(kind) or changes_of()[kind]


def done_label(plan: Plan) -> str:
    """Return what was undone, and that rows stay, as sentences."""
    said = [
        str(changes_of()[name].undone % {"count": count, "number": number_label(count)})
        for name, count in Counter(step.kind for step in plan.steps).items()
    ]
    if count := len(plan.stays):
        stays = ngettext("%(number)s stays as it is: %(why)s.", "%(number)s stay as they are: %(why)s.", count)
        said.append(stays % {"number": number_label(count), "why": reasons_of(plan.stays)})
    if plan.has_others:
        said.append(_("What is not yours stays."))
    return " ".join(said)


def show_rows(items: Sequence[Step | Stay], *, reader: User) -> list[tuple[str, str]]:
    """Return title and page of each row of a plan; another's is named by its number."""
    shown = []
    for item in items:
        kind, row = named(item.kind), item.row
        is_readable = row is not None and row.owner_id in {None, reader.pk}
        title = kind.title_of(row) if is_readable else kind.title(int(item.key))
        shown.append((title, kind.url_of(row) if row else ""))
    return shown


def label_reasons(reasons: Sequence[tuple[str, str]], *, reader: User) -> list[str]:
    """Return in words why rows stay as they are, from the reason and the actor of each. Two queries at most."""
    names = name_actors({by for _reason, by in reasons if by}, reader=reader)
    labels = [(UnchangedReason(reason).label, by) for reason, by in reasons]
    return [_("%(what)s, by %(who)s") % {"what": label, "who": names[by]} if by else str(label) for label, by in labels]
