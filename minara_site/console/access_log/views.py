"""`/ops/access-log/` for operators, `/privacy/looks/` for whoever was looked at, `/settings/reveals/` for support."""

from django.http import HttpResponse
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.access_log import list_access, list_reveals, load_access_subjects
from minara_site.access.models import AccessEntry
from minara_site.access.policy import Act
from minara_site.console.access_log.selectors import describe_access
from minara_site.shell.owners import user_filter
from minara_site.shell.pages import PageRequest, page
from minara_site.web.filters import Rows, choice, dates
from minara_site.web.lists import Column, Empty, ListSpec, by_time, load_page, render_list

WHEN = Column(gettext_lazy("When"), sorts=("newest", "oldest"), numeric=True)
KIND = choice(
    "kind",
    gettext_lazy("What"),
    lambda: [(each.name, each.label) for each in load_access_subjects().values()],
)
DATES = dates("at", gettext_lazy("From"), gettext_lazy("Before"))
LOOKS = ListSpec(
    name="access-log",
    caption=gettext_lazy("Who looked at whose data"),
    row="console/access_log/_row.html",
    columns=(
        Column(gettext_lazy("Who")),
        Column(gettext_lazy("Whose")),
        Column(gettext_lazy("What")),
        WHEN,
    ),
    sorts=by_time("at"),
    filters=(
        user_filter("viewer", gettext_lazy("Who (user name)")),
        user_filter("owner", gettext_lazy("Whose (user name)")),
        KIND,
        *DATES,
    ),
    empty=Empty(
        "eye",
        gettext_lazy("No one has looked at anybody's data"),
        gettext_lazy(
            "When an operator or support opens something of another person, a line appears here and for its owner."
        ),
    ),
    has_actions=False,
)
OWN_LOOKS = ListSpec(
    name="looks",
    caption=gettext_lazy("Who looked at your data"),
    row="console/access_log/_own_row.html",
    columns=(
        Column(gettext_lazy("Who")),
        Column(gettext_lazy("What")),
        WHEN,
    ),
    sorts=by_time("at"),
    filters=(KIND, *DATES),
    empty=Empty(
        "eye",
        gettext_lazy("No one but you"),
        gettext_lazy("When an operator or support opens something of yours, it is listed here, with name and time."),
    ),
    has_actions=False,
)

OWN_REVEALS = ListSpec(
    name="reveals",
    caption=gettext_lazy("What you revealed"),
    row="console/access_log/_reveal_row.html",
    columns=(
        Column(gettext_lazy("What")),
        Column(gettext_lazy("Whose")),
        Column(gettext_lazy("Why")),
        WHEN,
        Column(gettext_lazy("Until"), numeric=True),
    ),
    sorts=by_time("at"),
    filters=DATES,
    empty=Empty(
        "eye",
        gettext_lazy("You revealed nothing"),
        gettext_lazy("When you reveal the amounts of a trading case, it is listed here with your reason."),
    ),
    has_actions=False,
)


@page(Act.ACCESS_LOG)
def access_log(request: PageRequest) -> HttpResponse:
    """List every look."""
    return show_access_rows(
        request,
        LOOKS,
        AccessEntry.objects.select_related("viewer", "owner"),
        "console/access_log/list.html",
        _("Access log"),
    )


@page(Act.OWN_SETTINGS)
def own_access(request: PageRequest) -> HttpResponse:
    """List who looked at the reader's data."""
    return show_access_rows(
        request,
        OWN_LOOKS,
        list_access(request.user).select_related("owner"),
        "console/access_log/own.html",
        _("Who looked at your data"),
    )


@page(Act.OWN_SETTINGS)
def own_reveals(request: PageRequest) -> HttpResponse:
    """List what the reader revealed of other people's data."""
    return show_access_rows(
        request,
        OWN_REVEALS,
        list_reveals().filter(viewer=request.user),
        "console/access_log/reveals.html",
        _("My reveals"),
    )


def show_access_rows(
    request: PageRequest,
    spec: ListSpec,
    rows: Rows,
    template: str,
    title: str,
) -> HttpResponse:
    """Answer a list of access rows, each in words."""
    found = load_page(spec, request, rows)
    shown = found.with_rows(describe_access(found.rows))
    return render_list(request, template, shown, {"title": title})
