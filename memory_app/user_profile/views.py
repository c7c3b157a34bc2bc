"""`/user-profile/`: stable facts that stand in every prompt, added, edited and removed in place."""

from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django.db.models import Q
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.forms import EditForm, EntryForm, ValueForm
from memory_app.user_profile.models import UserProfileEntry, guarded_text
from memory_app.user_profile.selectors import find_entry, get_entry, list_entries
from memory_app.user_profile.services import MAX_VALUE_CHARS, remove_entry, set_entry, undo_change
from minara_site.access.access_log import log_access
from minara_site.access.actors import is_owner, name_actors
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.core.vocabulary import PERSONS
from minara_site.kernel.errors import Conflict, Invalid, NotFound, or_not_found
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.guard.preview import GuardPreview, preview_text
from minara_site.kernel.plain_text import storable_problem
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.filters import Filter, FilterKind, Rows
from minara_site.web.forms import show_refusal
from minara_site.web.keyset import Order
from minara_site.web.lists import Column, Empty, ListSpec, Sort, load_page, render_list, render_row
from minara_site.web.responses import back, render_page, see_other, toast, wants_fragment

FORMER = "former_user_profile_entry"  # in the browser session, for one undo: the key, and when it was replaced


def containing(rows: Rows, text: str) -> Rows:
    """Keep entries whose name or value holds the text."""
    return rows.filter(Q(key__icontains=text) | Q(value__icontains=text))


ENTRIES = ListSpec(
    name="user-profile",
    caption=gettext_lazy("Profile values"),
    row="memory_app/user_profile/_row.html",
    columns=(
        Column(gettext_lazy("Name"), sorts=("name",)),
        Column(gettext_lazy("Value")),
        Column(gettext_lazy("Changed"), sorts=("newest",), numeric=True),
    ),
    sorts=(
        Sort("name", gettext_lazy("by name"), Order("key", descending=False)),
        Sort("newest", gettext_lazy("newest change first"), Order("updated_at")),
    ),
    filters=(
        Filter(
            "q",
            gettext_lazy("Search name or value"),
            FilterKind.SEARCH,
            apply=containing,
        ),
    ),
    empty=Empty(
        "person",
        gettext_lazy("Nothing here yet"),
        gettext_lazy("What you put here is in every prompt, such as risk_tolerance: conservative."),
    ),
)


@page(Act.USER_PROFILE_READ)
def entry_list(request: PageRequest) -> HttpResponse:
    """List the entries, with a form for one more; an operator reads those of another owner."""
    owner = request.principal.reads(Act.USER_PROFILE_READ, request.GET.get("owner"))
    if not isinstance(owner, User):
        raise NotFound(_("Name one owner: a profile belongs to one person."))
    log_access(
        principal=request.principal,
        owner_ids=[owner.pk],
        kind="user_profile",
        now=timezone.now(),
    )
    return show_list(request, owner, EntryForm())


@page(Act.USER_PROFILE_WRITE, "POST")
def entry_add(request: PageRequest) -> HttpResponse:
    """Add an entry; a name that is taken is refused, never overwritten."""
    form = EntryForm(request.POST)
    if form.is_valid() and is_agreed(request, form):
        try:
            hold = store(request, **form.cleaned_data, must_be_new=True)
        except Invalid as refusal:
            show_refusal(form, refusal)
        except Conflict as conflict:
            form.add_error("key", conflict.detail)
        else:
            if hold:
                return show_held(request, hold)
            undo_url = reverse("user_profile:remove", args=[form.cleaned_data["key"]])
            toast(request, _("Added. It is read from the next session on."), undo_url)
            return see_other("user_profile:page")
    return show_list(
        request,
        request.principal.owner,
        form,
        status=HTTPStatus.UNPROCESSABLE_ENTITY,
    )


@page(Act.USER_PROFILE_WRITE, "POST")
def entry_warn(request: PageRequest) -> HttpResponse:
    """Say while somebody types whether the value would be held; `key` is the entry's name."""
    preview = preview_value(
        request,
        request.POST.get("key", ""),
        request.POST.get("value", ""),
    )
    return render_page(request, "parts/_guard_preview.html", {"preview": preview})


@page(Act.USER_PROFILE_WRITE, "GET", "POST")
def entry_edit(request: PageRequest, key: str) -> HttpResponse:
    """Change a value, in its row or on a page of its own."""
    entry = get_entry(owner=request.principal.owner, key=key)
    if request.method != "POST":
        return show_form(
            request,
            entry,
            EditForm(initial={"value": entry.value, "updated_at": stamp(entry)}),
        )
    form = EditForm(request.POST)
    if not (form.is_valid() and is_agreed(request, form, key)):
        return show_form(request, entry, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    said = form.cleaned_data
    try:
        hold = store(
            request,
            key=key,
            value=said["value"],
            expected_updated_at=said["updated_at"],
        )
    except Invalid as refusal:
        show_refusal(form, refusal)
        return show_form(request, entry, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except Conflict:
        mine = EditForm(initial={"value": form.cleaned_data["value"], "updated_at": stamp(entry)})
        return show_form(request, entry, mine, status=HTTPStatus.CONFLICT)
    if hold:
        return show_held(request, hold)
    stands = get_entry(owner=request.principal.owner, key=key)
    request.session[FORMER] = {"key": key, "replaced_at": stamp(stands)}
    toast(
        request,
        _("Saved. It is read from the next session on."),
        reverse("user_profile:undo"),
    )
    return answer_row(request, stands)


@page(Act.USER_PROFILE_WRITE, "POST")
def entry_remove(request: PageRequest, key: str) -> HttpResponse:
    """Remove an entry; the browser session keeps it for one undo."""
    principal = request.principal
    entry = remove_entry(
        owner=principal.owner,
        key=key,
        **done_by(request),
    )
    request.session[FORMER] = {"key": entry.key, "replaced_at": ""}
    toast(
        request,
        _("Removed %(key)s.") % {"key": entry.key},
        reverse("user_profile:undo"),
    )
    return answer_row(request, None)


@page(Act.USER_PROFILE_WRITE, "POST")
def entry_undo(request: PageRequest) -> HttpResponse:
    """Bring back what was removed or replaced last. Raises NotFound, and Conflict when it was changed since."""
    former = or_not_found(request.session.get(FORMER), _("There is nothing left to undo."))
    principal, replaced_at = request.principal, parse_datetime(former["replaced_at"])
    entry, hold = undo_change(
        owner=principal.owner,
        key=former["key"],
        replaced_at=replaced_at,
        **done_by(request),
    )
    del request.session[FORMER]
    if hold:
        return show_held(request, hold)
    toast(request, _("%(key)s is as it was.") % {"key": entry.key})
    return back(request, "user_profile:page")


def store(request: PageRequest, **fields: Any) -> Hold | None:
    """Set an entry of the person who asks; return why its value waits, None when it stands."""
    principal = request.principal
    return set_entry(
        owner=principal.owner,
        **done_by(request),
        **fields,
    ).hold


def preview_value(request: PageRequest, key: str, value: str) -> GuardPreview | None:
    """Return why the guard would hold this value of this person's entry."""
    text = guarded_text(key.strip()[:MAX_VALUE_CHARS], value.strip()[:MAX_VALUE_CHARS])
    entry = find_entry(owner=request.principal.owner, key=key.strip()) if storable_problem(key) is None else None
    return preview_text(text, kind=PROFILE_KIND, object_id=entry.pk if entry else None)


def is_agreed(request: PageRequest, form: ValueForm, key: str = "") -> bool:
    """Say whether the value can be stored: the guard lets it in, or its writer agreed that it waits (trust P-02)."""
    said = form.cleaned_data
    form.preview = preview_value(request, key or said["key"], said["value"])
    if form.preview is None or request.POST.get("anyway") == form.preview.token:
        return True
    form.add_error("value", _("Nothing is stored yet. Change the value, or tick that it may wait."))
    return False


def show_held(request: PageRequest, hold: Hold) -> HttpResponse:
    """Say that a value waits, and lead to it."""
    toast(request, _("Stored, but held: no agent reads it until an operator has released it."))
    return see_other("held:one", hold.pk)


def stamp(entry: UserProfileEntry) -> str:
    """Return the moment by which a form tells whether its value is still the stored one."""
    return entry.updated_at.isoformat()


def show_list(
    request: PageRequest,
    owner: User,
    form: EntryForm,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the list of an owner; only their own can be edited."""
    is_own = owner == request.user
    spec = ENTRIES if is_own else replace(ENTRIES, has_actions=False)
    shown = load_page(
        spec,
        request,
        list_entries(owner=owner).select_related("owner"),
        ignore=("owner",),
    )
    shown = shown.with_rows([masked_for(request.user, entry) for entry in shown.rows])
    name_others(shown.rows, owner=owner, reader=request.user)
    title = _("Profile values") if is_own else _("Profile values of %(owner)s") % {"owner": owner.get_short_name()}
    context = {"title": title, "form": form, "is_own": is_own}
    response = render_list(request, "memory_app/user_profile/list.html", shown, context)
    response.status_code = status
    return response


def name_others(
    entries: Sequence[UserProfileEntry],
    *,
    owner: User,
    reader: User,
) -> None:
    """Name those who brought a value in for this owner. No query unless there is one, then two at most."""
    others = [entry for entry in entries if entry.actor.startswith(PERSONS) and not is_owner(entry.actor, owner)]
    names = name_actors({entry.actor for entry in others}, reader=reader) if others else {}
    for entry in others:
        entry.brought_in_by = names[entry.actor]


def show_form(
    request: PageRequest,
    entry: UserProfileEntry,
    form: EditForm,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the form of one entry: its row under HTMX, else a page."""
    context = {
        "title": _("Edit %(key)s") % {"key": entry.key},
        "entry": entry,
        "form": form,
        "spec": ENTRIES,
        "is_stale": status == HTTPStatus.CONFLICT,
    }
    fragment = "memory_app/user_profile/_edit_row.html"
    return render_page(
        request,
        "memory_app/user_profile/edit.html",
        context,
        fragment=fragment,
        status=status,
    )


def answer_row(request: PageRequest, entry: UserProfileEntry | None) -> HttpResponse:
    """Answer what became of a row: the row, nothing when it is gone, or the list without HTMX."""
    if not wants_fragment(request):
        return see_other("user_profile:page")
    entries = list_entries(owner=request.principal.owner)
    return render_row(
        request,
        ENTRIES,
        entries,
        entry,
        extra={"is_own": True},
    )
