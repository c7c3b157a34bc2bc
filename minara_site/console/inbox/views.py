"""`/inbox/` for operators."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.console.inbox.pages import ALERTS, CLOSED, OPEN, show_alerts
from minara_site.console.inbox.services import close_alert, reopen_alert
from minara_site.console.models import Alert
from minara_site.kernel.counts import count_tabs
from minara_site.kernel.jobs.selectors import is_worker_seen
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.lists import load_page, render_list
from minara_site.web.responses import back, toast


@page(Act.INBOX_READ)
def inbox(request: PageRequest) -> HttpResponse:
    """List the open alerts, or those that are closed."""
    found = load_page(ALERTS, request, Alert.objects.all())
    counts = count_tabs(
        {
            OPEN: Alert.objects.open(),
            CLOSED: Alert.objects.filter(closed_at__isnull=False),
        }
    )
    now = timezone.now()
    shown = found.with_rows(show_alerts(found.rows, now=now)).with_tab_counts(counts)
    context = {"title": _("Alerts"), "has_worker": is_worker_seen(now=now)}
    return render_list(request, "console/inbox/list.html", shown, context)


@page(Act.INBOX_CLOSE, "POST")
def close(request: PageRequest, alert_id: int) -> HttpResponse:
    """Close an alert that an operator has read."""
    close_alert(
        alert_id=alert_id,
        **done_by(request),
    )
    toast(
        request,
        _("Closed the alert."),
        undo_url=reverse("inbox:reopen", args=[alert_id]),
    )
    return back(request, "inbox:list")


@page(Act.INBOX_CLOSE, "POST")
def reopen(request: PageRequest, alert_id: int) -> HttpResponse:
    """Open it again."""
    reopen_alert(
        alert_id=alert_id,
        **done_by(request),
    )
    toast(request, _("The alert is open again."))
    return back(request, "inbox:list")
