"""The two acts of operators on the demo."""

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.console.demo.services import load_demo, remove_demo
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import back, toast


@page(Act.DEMO, methods=("POST",))
def load(request: PageRequest) -> HttpResponse:
    """Load the demo."""
    count = load_demo(now=timezone.now(), actor=request.principal.actor)
    said = _("Loaded a demo of %(count)d memories.") if count else _("The demo is loaded already.")
    toast(request, said % {"count": count})
    return back(request, "home")


@page(Act.DEMO, methods=("POST",))
def remove(request: PageRequest) -> HttpResponse:
    """Remove the demo."""
    count = remove_demo(now=timezone.now(), actor=request.principal.actor)
    said = _("Removed the demo and its %(count)d memories.") if count else _("There is no demo to remove.")
    toast(request, said % {"count": count})
    return back(request, "home")
