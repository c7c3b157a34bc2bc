"""`/` and the acts on it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.audit.pages.labels import score_number
from learning_app.audit.pages.report import badge_of
from learning_app.preferences.limits import MAX_LIMITS
from memory_app.snapshot.core import SectionName
from memory_app.writes.pages import show_anomalies
from memory_app.writes.selectors.anomalies import load_anomalies, load_held
from memory_app.writes.selectors.brought_in import list_brought_in
from minara_site.access.policy import Act, Role
from minara_site.console.budgets.pages.rows import WindowView, show_window
from minara_site.console.home.feed import Feed, load_feed
from minara_site.console.home.first_steps import list_first_steps, show_steps_again, take_step
from minara_site.console.home.learning import list_newest_judged
from minara_site.console.home.selectors import Instance, Own, list_newest_memories, load_own, load_own_and_instance
from minara_site.console.inbox.pages import MAX_AT_HOME, AlertView, show_alerts
from minara_site.console.models import Alert, Step
from minara_site.kernel.errors import NotFound
from minara_site.kernel.llm.selectors import load_budget
from minara_site.kernel.ownership import EVERYONE, Owner
from minara_site.shell.context import waiting_label
from minara_site.shell.pages import PageRequest, page
from minara_site.web.charts import Value, sparkline
from minara_site.web.labels import enumeration, sentences
from minara_site.web.lists import total_label
from minara_site.web.moments import day, span_label
from minara_site.web.responses import back, render_page, see_other
from profile_app.portrait.selectors.profile import load_settings
from profile_app.prompt.pages import bar_of
from profile_app.prompt.selectors import assemble, load_texts
from profile_app.workspace.core.identity import parse_identity

ROLES = {
    Role.OPERATOR: gettext_lazy("Operator"),
    Role.SUPPORT: gettext_lazy("Support"),
    Role.USER: gettext_lazy("User"),
}
AFTER = {Step.PROMPT_SEEN: "prompt:page", Step.HIDDEN: "home"}


@page(Act.HOME)
def home(request: PageRequest) -> HttpResponse:
    """Show what this person needs: support what they can do, an owner their memory, an operator the instance too."""
    principal, now = request.principal, timezone.now()
    context: dict[str, Any] = {"title": _("Home"), "lede": today_label(now)}
    if not principal.may(Act.MEMORY_READ):
        return render_page(
            request,
            "console/home/support.html",
            context | {"title": _("Find a case")},
        )
    if principal.is_operator:
        own, instance = load_own_and_instance(request.user, now=now)
        context |= own_context(request, own) | feed_context(request, EVERYONE, now) | instance_context(instance)
        context["alerts"] = list_open_alerts(now) if instance.has_alerts else []
        context["anomalies"] = show_anomalies(load_anomalies(now=now), principal=principal)
        context |= audit_context(instance.audit)
        context["budgets"] = list_tight_budgets(now) if instance.has_tight_budget else []
        return render_page(request, "console/home/operator.html", context)
    context |= own_context(request, load_own(request.user, now=now)) | feed_context(request, request.user, now)
    context["anomalies"] = show_anomalies(load_held(owner=request.user, now=now), principal=principal)
    context["newest"] = list_newest_memories(owner=request.user)
    context["judged"] = list_newest_judged(request.user)
    return render_page(request, "console/home/owner.html", context)


@page(Act.OWN_SETTINGS, "POST")
def first_step(request: PageRequest, step: str) -> HttpResponse:
    """Note a step and go to what it is about."""
    if step not in set(Step):
        raise NotFound(_("There is no such step."))
    take_step(user=request.user, step=Step(step), now=timezone.now())
    return see_other(AFTER[Step(step)])


@page(Act.OWN_SETTINGS, "POST")
def first_steps_again(request: PageRequest) -> HttpResponse:
    """Show the list of first steps again."""
    show_steps_again(user=request.user)
    return back(request, "home")


def own_context(request: PageRequest, own: Own) -> dict[str, Any]:
    """Return what the page says about the reader's own memory."""
    steps = list_first_steps(request.user, own)
    now, switches = timezone.now(), load_settings(request.user.pk)
    texts = load_texts(request.user, switches, now=now)
    prompt = assemble(texts, switches, now=now)
    return {
        "own": own,
        "held": waiting_label(own.held.number),
        "steps": steps,
        "steps_done": sum(step.is_done for step in steps),
        "prompt": prompt,
        "bar": bar_of(prompt),
        "own_total": total_label(own.memories),
        "brought_in": list_brought_in(request.user, unseen=True) if own.has_brought_in else [],
        "outcomes_due": own.outcomes_due,
        "limits_over": next(
            (each.rows for each in prompt.sections if each.name is SectionName.LIMITS and each.rows > MAX_LIMITS), 0
        ),
        "max_limits": MAX_LIMITS,
        "identity": parse_identity(texts.files.identity),
    }


def feed_context(request: PageRequest, owner: Owner, now: datetime) -> dict[str, Any]:
    """Return what happened, and the line about it under the title."""
    since = request.user.previous_visit_at
    feed = load_feed(owner=owner, reader=request.user, since=since)
    return {"feed": feed, "lede": lede_label(feed, since=since, now=now)}


def audit_context(figures: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the newest number of the learning audit; before its first pass none."""
    if figures is None:
        return {}
    return {
        "audit": figures,
        "audit_number": score_number(figures["composite"]),
        "badge": badge_of(figures["band"]),
    }


def list_open_alerts(now: datetime) -> list[AlertView]:
    """Return the newest open alerts. One query."""
    return show_alerts(
        Alert.objects.open().order_by("-opened_at", "-pk")[:MAX_AT_HOME],
        now=now,
    )


def list_tight_budgets(now: datetime) -> list[WindowView]:
    """Return the windows of the budget that are past their warning or used up. Two queries."""
    tight = [each for each in load_budget(now=now) if each.is_beyond_soft]
    return [show_window(each, now=now, actors={}) for each in tight]


def instance_context(instance: Instance) -> dict[str, Any]:
    """Return the state of the instance, counts in words."""
    return {
        "instance": instance,
        "memories_total": total_label(instance.memories),
        "people_total": total_label(instance.people),
        "failed_total": total_label(instance.failed),
        "outcomes_due": instance.outcomes_due,
        "held": waiting_label(instance.held.number),
        "learning": instance.learning,
        "learning_waiting": total_label(instance.learning.waiting),
        "learning_overdue": total_label(instance.learning.overdue),
        "people": [(person, ROLES[person.role]) for person in instance.newest_people],
        "written_today": total_label(instance.days[-1].memories),
        "spark": sparkline(
            [
                Value(
                    day(each.begin, each.begin.tzinfo),
                    each.memories.number,
                    total_label(each.memories),
                )
                for each in instance.days
            ],
            _("Memories written or changed on each of the last %(days)d days") % {"days": len(instance.days)},
        ),
    }


def lede_label(feed: Feed, *, since: datetime | None, now: datetime) -> str:
    """Return the line under the title: the day, and what changed since the last visit."""
    if since is None:
        return _("%(today)s This is your first visit.") % {"today": today_label(now)}
    if now - since < timedelta(minutes=1):
        return today_label(now)
    span = span_label(now - since)
    if not feed.since:
        changed = _("Nothing has changed in the %(span)s since your last visit.") % {"span": span}
    else:
        template = (
            _("In the %(span)s since your last visit: more than %(what)s.")
            if feed.is_more
            else _("In the %(span)s since your last visit: %(what)s.")
        )
        changed = template % {"span": span, "what": enumeration(feed.since)}
    return sentences(today_label(now), changed)


def today_label(now: datetime) -> str:
    """Return the day in the reader's zone as a sentence: "Friday 12 June."."""
    return date_format(timezone.localtime(now), _("l j F.")).strip()
