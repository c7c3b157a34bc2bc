"""The pages of `/ops/governance/`."""

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.access_log import log_access
from minara_site.access.policy import Act
from minara_site.console.governance.forms import ReasonForm, SwitchForm
from minara_site.console.governance.labels import MODES
from minara_site.console.governance.pages.lists import SHADOWS
from minara_site.console.governance.pages.rows import show_breakers, show_capabilities, show_model, show_shadows
from minara_site.kernel.governance import breaker
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import list_shadows, mode_of
from minara_site.kernel.governance.services import switch
from minara_site.kernel.governance.table import Capability
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import posted
from minara_site.web.lists import load_page, render_list
from minara_site.web.responses import render_form, see_other, toast


@page(Act.GOVERNANCE_READ)
def governance(request: PageRequest) -> HttpResponse:
    """Show how each capability stands, the breaker, the model, and what ran in shadow mode."""
    now, reader = timezone.now(), request.user
    found = load_page(SHADOWS, request, list_shadows().select_related("owner"))
    owner_ids = {row.owner_id for row in found.rows if row.owner_id}
    log_access(
        principal=request.principal,
        owner_ids=owner_ids,
        kind="shadows",
        now=now,
    )
    capabilities, breakers, model = show_capabilities(reader=reader), show_breakers(now=now), show_model()
    context = {
        "title": _("Automation"),
        "capabilities": capabilities,
        "breakers": breakers,
        "model": model,
        "is_normal": all(each.status.mode is Mode.ON for each in capabilities)
        and all(each.is_closed for each in breakers)
        and not model.missing,
    }
    shown = found.with_rows(show_shadows(found.rows, reader=reader))
    return render_list(request, "console/governance/page.html", shown, context)


@page(Act.GOVERNANCE_CHANGE, "GET", "POST")
def change(request: PageRequest, capability: Capability) -> HttpResponse:
    """Switch a capability on, off or into the shadow."""
    form = SwitchForm(
        capability,
        mode_of(capability),
        posted(request),
    )
    if form.is_valid():
        mode = Mode(form.cleaned_data["mode"])
        switch(
            capability=capability,
            mode=mode,
            reason=form.cleaned_data["reason"],
            **done_by(request),
        )
        toast(
            request,
            _("%(name)s: %(mode)s.") % {"name": capability.label, "mode": MODES[mode]},
        )
        return see_other("governance:page")
    context = {
        "title": capability.label,
        "text": capability.text,
        "button": _("Switch"),
    }
    return render_form(request, "console/governance/change.html", form, context)


@page(Act.GOVERNANCE_CHANGE, "GET", "POST")
def close_breaker(request: PageRequest) -> HttpResponse:
    """Close a breaker by hand, before its time is over."""
    name = (request.POST if request.method == "POST" else request.GET).get("name", "")
    form = ReasonForm(posted(request))
    if form.is_valid():
        breaker.reset(
            name,
            reason=form.cleaned_data["reason"],
            **done_by(request),
        )
        toast(request, _("The breaker is closed: calls go through again."))
        return see_other("governance:page")
    text = _("Calls to it go through at once. If they still fail, it opens again after five failures.")
    context = {
        "title": _("Close the breaker"),
        "text": text,
        "button": _("Close it"),
        "name": name,
    }
    return render_form(request, "console/governance/change.html", form, context)
