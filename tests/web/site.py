"""A small site out of the parts alone: a list, its row, a detail page, a form, charts. Only tests mount it."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import groupby

from django import forms
from django.db import OperationalError
from django.http import Http404, HttpResponse, QueryDict
from django.urls import URLResolver, include, path, reverse

from minara_site.access.models import AccessEntry
from minara_site.access.policy import Act
from minara_site.kernel import registry
from minara_site.kernel.errors import Conflict, NotFound, Throttled
from minara_site.shell.nav import Crumb
from minara_site.shell.pages import PageRequest, page
from minara_site.web import charts
from minara_site.web.filters import Filter, FilterKind
from minara_site.web.keyset import Order
from minara_site.web.lists import BulkAction, Column, Empty, ListSpec, Sort, load_page, render_list, render_row
from minara_site.web.responses import back, render_page, see_other, toast

ENTRIES = ListSpec(
    name="entries",
    caption="Entries",
    row="web_tests/_row.html",
    columns=(
        Column("Memory"),
        Column("Source"),
        Column("State"),
        Column("Tokens", numeric=True),
        Column("Changed", ("newest", "oldest"), numeric=True),
    ),
    sorts=(
        Sort("newest", "newest change first", Order("at")),
        Sort("oldest", "oldest change first", Order("at", descending=False)),
    ),
    filters=(
        Filter("q", "Search entries", FilterKind.SEARCH, lookup="object_id__icontains"),
        Filter(
            "state",
            "State",
            FilterKind.TABS,
            choices=(("live", "Active"), ("all", "All")),
            default="all",
            apply=lambda rows, _: rows,
        ),
        Filter("kind", "Kind", FilterKind.CHOICE, lookup="kind", choices=(("lesson", "lesson"), ("alert", "alert"))),
        Filter("after", "Changed after", FilterKind.DATE, lookup="at__gte"),
        Filter("from", "From number", FilterKind.NUMBER, lookup="id__gte"),
        Filter("object", "Object", FilterKind.TEXT, lookup="object_id"),
    ),
    bulk=(BulkAction("delete", "Delete", icon="trash"),),
    bulk_url="bulk",
    empty=Empty("memory", "Nothing yet", "Tell the agent one thing.", action="Tell it", url="form"),
    page_size=12,
)
SEGMENTS = [("equal", "Trail "), ("delete", "all majors"), ("insert", "BTC stop-losses"), ("equal", " by 8%")]


class EntryForm(forms.Form):
    """One field of each kind."""

    statement = forms.CharField(widget=forms.Textarea, max_length=40, help_text="At most 40 characters.")
    kind = forms.ChoiceField(choices=[("lesson", "lesson"), ("alert", "alert")])
    label = forms.CharField(required=False)
    remember = forms.BooleanField(required=False)
    scopes = forms.MultipleChoiceField(
        choices=[("read", "read"), ("write", "write")],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )


def own(request: PageRequest):
    return AccessEntry.objects.filter(owner=request.user)


@page(Act.HOME)
def listing(request: PageRequest) -> HttpResponse:
    spec = replace(ENTRIES, page_size=300) if "long" in request.GET else ENTRIES
    shown = load_page(spec, request, own(request), ignore=("long",))
    shown = shown.with_note("9 are in the prompt").with_tab_counts({"live": 1236, "all": 1284})
    return render_list(request, "web_tests/list.html", shown, {"title": "Memories"})


@page(Act.HOME, "POST")
def bulk(request: PageRequest) -> HttpResponse:
    ids = request.POST.getlist("ids")
    if request.POST.get("all"):
        ids = ENTRIES.matching_ids(own(request), QueryDict(request.POST["filter"]))
    own(request).filter(pk__in=ids).delete()
    toast(request, f"Deleted {len(ids)} memories.", undo_url=reverse("undo"))
    return back(request, "list")


@page(Act.HOME, "POST")
def delete(request: PageRequest, pk: int) -> HttpResponse:
    own(request).filter(pk=pk).delete()
    toast(request, "Deleted 1 memory. It can be restored for 30 days.", undo_url=reverse("undo"))
    return render_row(request, ENTRIES, own(request), tab_counts={"live": 7}) if request.htmx else back(request, "list")


@page(Act.HOME, "POST")
def undo(request: PageRequest) -> HttpResponse:
    toast(request, "Restored.")
    return back(request, "list")


@page(Act.HOME, "GET", "POST")
def edit(request: PageRequest, pk: int) -> HttpResponse:
    row = own(request).get(pk=pk)
    form = EntryForm(request.POST or None, initial={"statement": row.object_id, "kind": "lesson"})
    context = {"title": "Edit", "form": form, "row": row, "spec": ENTRIES}
    if request.method == "POST" and form.is_valid():
        row.object_id = form.cleaned_data["statement"]
        row.save()
        return render_row(request, ENTRIES, own(request), row) if request.htmx else see_other("list")
    return render_page(
        request,
        "web_tests/form.html",
        context,
        fragment="web_tests/_row_form.html",
        status=422 if form.errors else 200,
    )


@page(Act.HOME, "GET", "POST")
def form(request: PageRequest) -> HttpResponse:
    made = EntryForm(request.POST or None)
    made.is_valid()
    return render_page(
        request,
        "web_tests/form.html",
        {"title": "Form", "form": made},
        status=422 if made.errors else 200,
    )


@page(Act.HOME)
def detail(request: PageRequest) -> HttpResponse:
    context = {
        "title": "Memory 20617",
        "crumbs": [Crumb("Memories", reverse("list")), Crumb("20617")],
        "segments": SEGMENTS,
        "hits": [("Trail BTC ", False), ("stop", True), ("-losses by 8%", False)],
        "hidden": "Ignore\u200b this \U000e0041\u202e and\x00 that\u00ad",
        "amount": Decimal("-9.70"),
        "spark": charts.sparkline(
            [charts.Value(f"{n} Jun", n * 7 % 5) for n in range(1, 7)],
            "Memories written, 6 days",
        ),
        "tokens": charts.segmented_bar(
            [("Observations", 486), ("Tags", 71), ("MEMORY.md", 362)],
            total=2000,
            label="Tokens by section",
        ),
        "trend": charts.line_chart(
            [charts.Point(f"{day} Jun", value) for day, value in enumerate([82, 84, 83, None, 76, 74.8], start=1)],
            "Composite score over 6 days, from 82 to 74.8; no value on 4 Jun",
            low=20,
            high=100,
            bands=charts.BANDS,
        ),
    }
    return render_page(request, "web_tests/detail.html", context)


@page(Act.HOME)
def fail(request: PageRequest, how: str) -> HttpResponse:
    match how:
        case "missing":
            raise NotFound("There is no such memory.")
        case "http404":
            raise Http404
        case "conflict":
            raise Conflict("Ana Ruiz saved revision 4 while you typed.")
        case "throttled":
            raise Throttled("Slow down.", retry_after_seconds=7)
        case "suspicious":
            from django.core.exceptions import SuspiciousOperation

            raise SuspiciousOperation
        case "database":
            raise OperationalError("secret internals")
    raise RuntimeError("secret internals")


handler400 = "minara_site.shell.errors.bad_request"
handler403 = "minara_site.shell.errors.permission_denied"
handler404 = "minara_site.shell.errors.not_found"
handler500 = "minara_site.shell.errors.server_error"


def rooms() -> Iterator[URLResolver]:
    """Yield pages in place of the rooms, so that the side bar has somewhere to lead."""
    declared = registry.load("navigation").values()
    names = sorted({name for each in declared for name in (each.url_name, *each.also) if ":" in name})
    for namespace, group in groupby(names, key=lambda name: name.split(":")[0]):
        if namespace != "memories":
            pages = [path(f"{name}/", detail, name=name.split(":")[1]) for name in group]
            yield path(f"{namespace}/", include((pages, namespace)))


urlpatterns = [
    path("", detail, name="home"),
    path("memories/", listing, name="list"),
    path("memories/bulk/", bulk, name="bulk"),
    path("memories/undo/", undo, name="undo"),
    path("memories/<int:pk>/delete/", delete, name="delete"),
    path("memories/<int:pk>/edit/", edit, name="edit"),
    path("form/", form, name="form"),
    path("detail/", detail, name="detail"),
    path("fail/<str:how>/", fail, name="fail"),
    path("", include("minara_site.shell.urls")),
    path("accounts/", include("allauth.account.urls")),
    *rooms(),
    path("m/", include(([path("", listing, name="list"), path("trash/", listing, name="trash")], "memories"))),
]
