"""`/ops/status/` for operators, `/metrics` for a scraper with an operator's key."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.console.status.metrics import CONTENT_TYPE, activity_metrics, budget_metrics, metrics_of, written
from minara_site.console.status.page import sections_of, tone_of
from minara_site.console.status.selectors import load_status
from minara_site.kernel.llm.selectors import load_budget
from minara_site.shell.key_pages import key_page
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page
from profile_app.rebuild.health import load_ages


@page(Act.STATUS)
def status(request: PageRequest) -> HttpResponse:
    """Show how the instance is."""
    now = timezone.now()
    found = load_status(now=now)
    context = {
        "title": _("Status"),
        "sections": sections_of(found, now=now),
        "has_tables": settings.MINARA.minara_admin,
        "jobs": [(ran, tone_of(ran)) for ran in found.jobs],
    }
    return render_page(request, "console/status/page.html", context)


@key_page(Act.METRICS)
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer the same to a scraper."""
    now = timezone.now()
    found = [
        *metrics_of(load_status(now=now)),
        *budget_metrics(load_budget(now=now)),
        *activity_metrics(load_ages(now=now)),
    ]
    return HttpResponse(written(found), content_type=CONTENT_TYPE)
