"""The page of the effective settings; they change in the environment, and with a new start."""

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.console.effective_settings.selectors import list_variables
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page


@page(Act.EFFECTIVE_SETTINGS)
def effective_settings(request: PageRequest) -> HttpResponse:
    """Show every variable."""
    context = {"title": _("Configuration"), "groups": list_variables(settings.MINARA)}
    return render_page(request, "console/effective_settings/page.html", context)
