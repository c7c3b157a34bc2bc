"""The two acts of operators on the demo."""

from django.http import HttpResponse
from django.utils import timezone

from minara_site.access.policy import Act
from minara_site.console.demo.services import change_demo
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import back, toast


@page(Act.DEMO, methods=("POST",))
def change(request: PageRequest, act: str) -> HttpResponse:
    """Load or remove the demo."""
    toast(request, change_demo(act, now=timezone.now(), actor=request.principal.actor))
    return back(request, "home")
