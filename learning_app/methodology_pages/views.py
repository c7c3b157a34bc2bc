"""`/methodologies/`: what the instance knows of its analysis methods, and one of them with its evidence."""

from django.http import HttpResponse
from django.utils.translation import gettext as _

from learning_app.methodologies.selectors import get_methodology
from minara_site.access.policy import Act
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page


@page(Act.METHODOLOGIES_READ)
def methodology_list(request: PageRequest) -> HttpResponse:
    """List methodologies."""
    return render_page(request, "learning_app/methodologies/list.html", {"title": _("Methodologies")})


@page(Act.METHODOLOGIES_READ)
def methodology_page(request: PageRequest, uid: str) -> HttpResponse:
    """Show one methodology."""
    return render_page(request, "learning_app/methodologies/one.html", {"title": get_methodology(uid).name})
