"""`/audit/findings/`: what passes found, first and last seen, and acknowledging it."""

from http import HTTPStatus

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from learning_app.audit.core.records import Severity
from learning_app.audit.forms import NoteForm
from learning_app.audit.pages.findings import FindingRow, shape_findings
from learning_app.audit.selectors import usual_reports
from learning_app.audit.services.acknowledge import acknowledge, restore_acknowledgement, undo_acknowledgement
from learning_app.audit.texts import SEVERITY_LABELS
from minara_site.access.policy import Act
from minara_site.kernel.errors import Invalid
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.moments import number_label
from minara_site.web.responses import back, render_page, toast

READ_REPORTS = 100
"""A finding that none of the newest so many reports has is not listed any more."""
OPEN, ACKNOWLEDGED, GONE = "open", "acknowledged", "gone"


@page(Act.AUDIT_READ)
def finding_list(request: PageRequest) -> HttpResponse:
    """List findings, open ones first; narrowed by state and severity."""
    rows = shape_findings(list(usual_reports()[:READ_REPORTS]), reader=request.user)
    state, severity = request.GET.get("state", ""), request.GET.get("severity", "")
    labels = {
        "": _("All"),
        OPEN: _("Open"),
        ACKNOWLEDGED: _("Acknowledged"),
        GONE: _("Gone"),
    }
    counts = {name: sum(name in ("", state_of(row)) for row in rows) for name in labels}
    context = {
        "title": _("Findings"),
        "rows": [row for row in rows if state in ("", state_of(row)) and severity in ("", row.severity)],
        "has_any": bool(rows),
        "tabs": [(name, label, counts[name]) for name, label in labels.items()],
        "state": state,
        "severities": [
            ("", _("Any severity")),
            *((each.value, SEVERITY_LABELS[each]) for each in Severity),
        ],
        "severity": severity,
        "may_acknowledge": request.principal.may(Act.FINDING_ACKNOWLEDGE),
    }
    return render_page(request, "learning_app/audit/findings.html", context)


def state_of(row: FindingRow) -> str:
    """Return under which tab a finding is."""
    return OPEN if row.is_open else ACKNOWLEDGED if row.acknowledgement else GONE


@page(Act.FINDING_ACKNOWLEDGE, "POST")
def acknowledge_findings(request: PageRequest) -> HttpResponse:
    """Acknowledge the chosen findings; the first post asks for a note."""
    codes = request.POST.getlist("codes")
    if not codes:
        raise Invalid(_("Choose at least one finding."), code="nothing_chosen")
    form = NoteForm(request.POST if "note" in request.POST else None)
    if not form.is_valid():
        title = ngettext(
            "Acknowledge %(count)s finding",
            "Acknowledge %(count)s findings",
            len(codes),
        )
        chosen = [row for row in shape_findings(list(usual_reports()[:1]), reader=request.user) if row.code in codes]
        context = {
            "title": title % {"count": number_label(len(codes))},
            "form": form,
            "codes": codes,
            "rows": chosen,
        }
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return render_page(
            request,
            "learning_app/audit/acknowledge.html",
            context,
            status=status,
        )
    note = form.cleaned_data["note"]
    made = acknowledge(
        codes=codes,
        note=note,
        **done_by(request),
    )
    said = ngettext(
        "Acknowledged %(count)s finding.",
        "Acknowledged %(count)s findings.",
        len(made),
    )
    undo_url = reverse("audit:reopen", args=[made[0].pk])
    toast(
        request,
        said % {"count": number_label(len(made))},
        undo_url=undo_url,
    )
    return back(request, "audit:findings")


@page(Act.FINDING_ACKNOWLEDGE, "POST")
def reopen(request: PageRequest, acknowledgement_id: int) -> HttpResponse:
    """Open findings again that were acknowledged together."""
    ended = undo_acknowledgement(acknowledgement_id=acknowledgement_id, **done_by(request))
    said = ngettext(
        "%(count)s finding is open again.",
        "%(count)s findings are open again.",
        len(ended),
    )
    undo_url = reverse("audit:restore", args=[ended[0].pk])
    toast(
        request,
        said % {"count": number_label(len(ended))},
        undo_url=undo_url,
    )
    return back(request, "audit:findings")


@page(Act.FINDING_ACKNOWLEDGE, "POST")
def restore(request: PageRequest, acknowledgement_id: int) -> HttpResponse:
    """Undo that findings were opened again."""
    restored = restore_acknowledgement(acknowledgement_id=acknowledgement_id, **done_by(request))
    said = ngettext(
        "Acknowledged %(count)s finding.",
        "Acknowledged %(count)s findings.",
        len(restored),
    )
    toast(request, said % {"count": number_label(len(restored))})
    return back(request, "audit:findings")
