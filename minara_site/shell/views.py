"""The one act of the shell itself: light or dark."""

from http import HTTPStatus

from django.http import HttpResponse
from django.utils.translation import gettext as _

from minara_site.access.models import Theme
from minara_site.access.policy import Act
from minara_site.access.preferences import change_preferences
from minara_site.kernel.errors import Invalid
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.responses import back


@page(Act.OWN_SETTINGS, "POST")
def set_theme(request: PageRequest) -> HttpResponse:
    """Keep the theme that the button of the top bar chose."""
    theme = request.POST.get("theme", "")
    if theme not in Theme.values:
        raise Invalid(_("Choose light, dark or system."), code="unknown_theme")
    change_preferences(
        user=request.user,
        chosen={"theme": theme},
        **done_by(request),
    )
    return HttpResponse(status=HTTPStatus.NO_CONTENT) if request.htmx else back(request, "home")
