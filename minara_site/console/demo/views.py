"""The two acts of operators on the demo."""

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.console.demo.labels import loaded_label, removed_label
from minara_site.console.demo.services import load_demo, preview_removal, remove_demo
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import WordForm, posted
from minara_site.web.responses import back, render_form, see_other, toast


@page(Act.DEMO, "POST")
def load(request: PageRequest) -> HttpResponse:
    """Load the demo."""
    toast(request, loaded_label(load_demo(**done_by(request))))
    return back(request, "home")


@page(Act.DEMO, "GET", "POST")
def remove(request: PageRequest) -> HttpResponse:
    """Show what of the demo goes and what stays, and remove it once the word is typed."""
    form = WordForm("console:demo_remove", posted(request))
    if form.is_valid():
        toast(request, removed_label(remove_demo(**done_by(request))))
        return see_other("home")
    context = {"title": _("Remove the demo"), "removal": preview_removal(now=timezone.now())}
    return render_form(request, "console/demo/remove.html", form, context)
