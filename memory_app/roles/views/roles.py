"""`/roles/`: the declared roles and how they stand; and one role with its policy, health and newest lessons."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from cronsim import CronSim
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.roles.core import Trigger
from memory_app.roles.core.declarations import Manual, MemoryRole, is_id
from memory_app.roles.core.sweep import Ended
from memory_app.roles.health import Ages, RoleStatus, entries_of, load_ages, load_statuses, read_statuses
from memory_app.roles.labels import ENDED, RESULTS, TRIGGERS, cron_label, evidence_label, probe_label
from memory_app.roles.pages.rows import EntryRow, shape_entries
from memory_app.roles.reflect_form import load_offer
from memory_app.roles.registry import registry
from memory_app.roles.selectors import list_lessons, recent_lessons
from memory_app.roles.services.requests import request_reflection
from minara_site.access.access_log import log_listed
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import NotFound
from minara_site.kernel.llm.gateway import what_is_missing
from minara_site.kernel.ownership import ALL_OWNERS, Owner
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.columns import Stretch, column_chart
from minara_site.web.filters import Text
from minara_site.web.labels import declared_label, enumeration
from minara_site.web.lists import total_label
from minara_site.web.market_labels import hours_label
from minara_site.web.responses import render_page, see_other, toast

MAX_LESSONS = 10


@page(Act.ROLES_READ)
def role_list(request: PageRequest) -> HttpResponse:
    """List the roles with what waits, what is due and what was learned of the reader's entries."""
    owner, now = read_owner(request), timezone.now()
    context = {
        "title": _("Decision roles"),
        "rows": [(each, role_texts(each, owner)) for each in load_statuses(owner, now)],
        "whose": owner_label(request, owner),
        "query": query_of(request, owner),
        "missing": what_is_missing(),
    }
    return render_page(request, "memory_app/roles/roles.html", context)


@page(Act.ROLES_READ)
def role_page(request: PageRequest, role_id: str) -> HttpResponse:
    """Show one role, also one that is no longer declared as long as entries of it remain."""
    owner, now = read_owner(request), timezone.now()
    standing = find_status(role_id, owner, now)
    declared = standing.declared
    last_trigger = standing.state.last_trigger if standing.state else ""
    context = {
        "title": declared_label(declared.role.label) if declared else role_id,
        "standing": standing,
        "declared": declared,
        "whose": owner_label(request, owner),
        "query": query_of(request, owner),
        "missing": what_is_missing(),
        "last": last_label(standing) or _("none yet"),
        "last_trigger": TRIGGERS[Trigger(last_trigger)] if last_trigger in set(Trigger) else "",
        "is_shared": not isinstance(owner, User),
        "lessons": newest_lessons(request, role_id, owner, now),
        "as_of": now,
    }
    if declared:
        context |= declared_context(request, declared.role, owner, now)
    return render_page(request, "memory_app/roles/role.html", context)


@page(Act.ROLES_REFLECT_ALL, "POST")
def reflect(request: PageRequest, role_id: str) -> HttpResponse:
    """Ask for the reflection of all entries of a role that are due, and show the run."""
    if registry().find(role_id) is None:
        raise NotFound(_("There is no such role."))
    run = request_reflection(
        role_id=role_id,
        owner_id=None,
        **done_by(request),
    )
    toast(request, _("The reflection waits for a worker."))
    return see_other("jobs:run", run.pk)


def read_owner(request: PageRequest) -> Owner:
    """Return whose entries are counted: the reader's own, an operator's of everybody unless the address names one."""
    principal = request.principal
    return principal.reads(
        Act.ROLES_READ,
        request.GET.get("owner") or (ALL_OWNERS if principal.is_operator else None),
    )


def owner_label(request: PageRequest, owner: Owner) -> str:
    """Return whose entries the figures are about."""
    if not isinstance(owner, User):
        return _("of all owners")
    return _("your own") if owner == request.principal.owner else _("of %(owner)s") % {"owner": owner.get_short_name()}


def query_of(request: PageRequest, owner: Owner) -> str:
    """Return the beginning of the query that lists the same owner's entries."""
    if not request.principal.reads_others(Act.ROLE_MEMORY_READ):
        return "?"
    name = owner.username if isinstance(owner, User) else ALL_OWNERS
    return f"?{urlencode({'owner': name})}&"


def find_status(role_id: str, owner: Owner, now: datetime) -> RoleStatus:
    """Return how a role stands. Raises NotFound for one that was never declared, as far as this reader can tell."""
    if not is_id(role_id):
        raise NotFound(_("There is no such role."))
    standing = read_statuses(
        [(role_id, registry().find(role_id))],
        owner,
        now,
    )[0]
    if standing.declared is None and not entries_of(owner, role_id).exists():
        raise NotFound(_("There is no such role."))
    return standing


def role_texts(standing: RoleStatus, owner: Owner) -> dict[str, Text]:
    """Return what the list says of a role besides its figures.

    A reflection counts the entries of all owners, so what came of it is for a reader of all of them.
    """
    words: dict[str, Text] = {"last": "" if isinstance(owner, User) else last_label(standing)}
    if standing.declared:
        policy = standing.declared.role.reflection_policy
        words |= {
            "probe": probe_label(policy.outcome_probe),
            "triggers": enumeration(str(TRIGGERS[each]) for each in policy.triggers),
        }
    return words


def last_label(standing: RoleStatus) -> str:
    """Return what came of the last reflection: "3 reflected, 1 skipped", or why it failed; empty before the first."""
    state = standing.state
    if state is None or state.last_triggered_at is None:
        return ""
    if state.last_error:
        return _("failed: %(error)s") % {"error": state.last_error}
    counts = state.last_result or {}
    said = [
        _("%(count)s %(what)s") % {"count": value, "what": ENDED[Ended(name)]}
        for name, value in counts.items()
        if value and name in set(Ended)
    ]
    return enumeration(said) if said else str(RESULTS.get(str(counts.get("result")), _("nothing was due")))


def newest_lessons(
    request: PageRequest,
    role_id: str,
    owner: Owner,
    now: datetime,
) -> Sequence[EntryRow]:
    """Return the newest lessons of a role: of one owner those that their decisions may use now, else of everybody."""
    if isinstance(owner, User):
        found = recent_lessons(
            owner_id=owner.pk,
            role_id=role_id,
            as_of=now,
            most=MAX_LESSONS,
        )
    else:
        newest = list_lessons(owner=owner, role_id=role_id, as_of=now).order_by("-outcome_at", "-pk")
        found = list(newest.select_related("owner")[:MAX_LESSONS])
    log_listed(request.principal, found, kind="role_memory", now=now)
    return shape_entries(found, principal=request.principal, now=now)


def declared_context(
    request: PageRequest,
    role: MemoryRole,
    owner: Owner,
    now: datetime,
) -> dict[str, Any]:
    """Return what a declared role shows: its policy in words, how old what waits is, what reflecting costs."""
    policy = role.reflection_policy
    cron = policy.cron_expr if Trigger.CRON in policy.triggers else ""
    may_reflect = request.principal.may(Act.ROLES_REFLECT_ALL)
    ages = load_ages(role, owner, now)
    waiting = {
        "count": sum(each.entries.number for each in ages),
        "ready": sum(each.entries.number for each in ages if each.may_be_judged),
    }
    chart_label = _("Pending decisions by age: %(count)s, of which %(ready)s are old enough and not too old") % waiting
    return {
        "role": role,
        "probe": probe_label(policy.outcome_probe),
        "is_marked_by_hand": isinstance(policy.outcome_probe, Manual),
        "least": hours_label(policy.min_age_hours),
        "greatest": hours_label(policy.max_age_hours),
        "triggers": [TRIGGERS[each] for each in policy.triggers],
        "cron": cron,
        "cron_label": cron_label(cron) if cron else "",
        "next_at": next(CronSim(cron, now.astimezone(timezone.get_default_timezone()))) if cron else None,
        "evidence": [evidence_label(each) for each in policy.post_hoc_probes],
        "ages": column_chart([stretch_of(each) for each in ages], chart_label),
        "offer": load_offer(role.id, now=now) if may_reflect else None,
        "may_reflect": may_reflect,
    }


def stretch_of(ages: Ages) -> Stretch:
    """Return one column, named by its ages."""
    since = age_label(ages.since)
    if ages.until is None:
        label = _("over %(since)s") % {"since": since}
        word = label
    elif not ages.since and not ages.may_be_judged:
        label = word = _("under %(until)s") % {"until": age_label(ages.until)}
    else:
        label, word = _("%(since)s to %(until)s") % {"since": since, "until": age_label(ages.until)}, since
    return Stretch(
        label,
        word,
        ages.entries.number,
        not ages.may_be_judged,
        total_label(ages.entries),
    )


def age_label(hours: float) -> str:
    """Return an age in three digits at most: "36 h", "10.8 d"."""
    return hours_label(hours) if hours < 48 else _("%(days)s d") % {"days": f"{hours / 24:.3g}"}  # noqa: PLR2004
