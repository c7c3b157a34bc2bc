"""`/trading-cases/`: what agents decided and what prices said of it; read-only for everyone."""

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.cases.selectors import get_case
from minara_site.access.access_log import log_access
from minara_site.access.policy import Act
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page


@page(Act.CASES_READ)
def case_list(request: PageRequest) -> HttpResponse:
    """List cases."""
    return render_page(request, "learning_app/cases/list.html", {"title": _("Trading cases")})


@page(Act.CASES_READ)
def case_page(request: PageRequest, case_id: int) -> HttpResponse:
    """Show one case."""
    principal, now = request.principal, timezone.now()
    case = get_case(owner=principal.reaches(Act.CASES_READ), case_id=case_id)
    log_access(principal=principal, owner_ids=[case.owner_id], kind="trading_case", object_id=str(case.pk), now=now)
    return render_page(request, "learning_app/cases/one.html", {"title": _("Case %(id)d") % {"id": case.pk}})
