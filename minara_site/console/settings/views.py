"""The settings page."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import get_language_from_request, gettext as _, override

from minara_site.access.access_log import list_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.preferences import change_preferences
from minara_site.console.access_log.selectors import describe_access
from minara_site.console.models import FirstStep, Step
from minara_site.console.settings.forms import PreferencesForm
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import posted
from minara_site.web.responses import form_status, render_page, see_other, toast

MAX_LOOKS = 20


@page(Act.OWN_SETTINGS, "GET", "POST")
def settings(request: PageRequest) -> HttpResponse:
    """Show and keep the preferences; they apply from the next page on."""
    person = User.objects.get(pk=request.user.pk)  # the form writes into its copy, never into the signed-in reader
    form = PreferencesForm(
        posted(request),
        instance=person,
    )
    if not form.is_valid():
        return show(request, form)
    change_preferences(
        user=request.user,
        chosen=form.cleaned_data,
        **done_by(request),
    )
    with override(form.cleaned_data["language"] or get_language_from_request(request)):
        toast(request, _("Saved."))
    return see_other("console:settings")


def show(request: PageRequest, form: PreferencesForm) -> HttpResponse:
    """Answer the page; a form with errors makes it 422."""
    owns_memory = request.principal.may(Act.MEMORY_READ)
    looks = list_access(request.user).order_by("-at", "-pk")[:MAX_LOOKS]
    context: dict[str, Any] = {
        "title": _("Settings"),
        "preferences": form,
        "owns_memory": owns_memory,
        "looks": describe_access(looks) if owns_memory else [],
        "steps_hidden": FirstStep.objects.filter(user=request.user, step=Step.HIDDEN).exists(),
    }
    return render_page(
        request,
        "console/settings.html",
        context,
        status=form_status(form),
    )
