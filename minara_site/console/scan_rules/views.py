"""`/ops/scan-rules/`: the rules in force, what they found, a text to try, a re-scan on request (screens)."""

from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from minara_site.access.policy import Act
from minara_site.console.scan_rules.forms import TestForm
from minara_site.console.scan_rules.selectors import DAYS, RESCAN, list_rules, load_freshness
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.core.excerpt import cut
from minara_site.kernel.core.hidden import find_hidden
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.labels import name_rules
from minara_site.kernel.jobs.services import request_run
from minara_site.shell.pages import PageRequest, page
from minara_site.web.forms import posted
from minara_site.web.lists import total_label
from minara_site.web.responses import form_status, render_page, see_other, toast


@page(Act.SCAN_RULES, "GET", "POST")
@sensitive_post_parameters("text")
def scan_rules(request: PageRequest) -> HttpResponse:
    """Show the rules; a posted text is judged, shown with what was found, and forgotten."""
    form = TestForm(posted(request))
    tried = try_text(form.cleaned_data["text"]) if form.is_valid() else None
    freshness = load_freshness()
    context = {
        "title": _("Guard rules"),
        "form": form,
        "tried": tried,
        "version": guard.RULES.version,
        "rules": list_rules(now=timezone.now()),
        "days": DAYS,
        "freshness": freshness,
        "outdated": total_label(freshness.outdated),
    }
    fragment = "console/scan_rules/_test.html"
    return render_page(
        request,
        "console/scan_rules/page.html",
        context,
        fragment=fragment,
        status=form_status(form),
    )


@page(Act.SCAN_RULES, "POST")
def rescan(request: PageRequest) -> HttpResponse:
    """Queue a re-scan of every stored text, unless one waits or runs already."""
    if load_freshness().is_under_way:
        toast(request, _("A re-scan is running already."))
        return see_other("scan_rules:page")
    now, actor = timezone.now(), request.principal.actor
    with transaction.atomic():
        run = request_run(RESCAN, {}, now=now, requested_by=actor)
        record_audit(
            now=now,
            actor=actor,
            tool_call="rescan_requested",
            details={"run": run.pk},
        )
    toast(request, _("The re-scan is queued. What the rules refuse now will wait in the queue of held texts."))
    return see_other("scan_rules:page")


def try_text(text: str) -> dict[str, Any]:
    """Return the verdict on a text as the page shows it."""
    text = text.replace("\r\n", "\n")
    verdict = guard.judge(text)
    return {
        "is_held": verdict.is_held,
        "segments": cut(
            text,
            [(found.start, found.end) for found in verdict.findings],
        ),
        "rules": name_rules(verdict.findings),
        "hidden": list({char.char: char for char in find_hidden(text)}.values()),
    }
