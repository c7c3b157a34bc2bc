"""`/workspace/<name>/`: the text of a file, its editor, versions, the text that waits, additions to MEMORY.md."""

from functools import partial
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.core.diff import word_diff
from minara_site.kernel.errors import Conflict, Invalid, NotFound
from minara_site.kernel.plain_text import parse_number, storable_problem
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import show_refusal
from minara_site.web.responses import form_status, render_page, see_other, toast
from profile_app.documents.core import WORKSPACE_FILE, Origin, kept_newlines
from profile_app.documents.models import Document
from profile_app.documents.pages import preview_document, shape_conflict
from profile_app.documents.selectors import get_version_text
from profile_app.documents.views import (
    NOT_STORED,
    UNREADABLE,
    answer_saved,
    keep_draft,
    read_text,
    show_warning,
)
from profile_app.workspace.core.names import IDENTITY_FILES, FileName, is_done, note_date, placement_of
from profile_app.workspace.core.proposals import add_lines
from profile_app.workspace.forms import FileForm, LinesForm
from profile_app.workspace.pages.files import counted, file_context, restore_url
from profile_app.workspace.problems import unknown_name_label
from profile_app.workspace.selectors import find_file, find_missing_lines, today_of
from profile_app.workspace.services.files import draft_file, restore_version, write_file
from profile_app.workspace.views.lists import open_owner


@page(Act.WORKSPACE_READ)
def show(request: PageRequest, file_name: str) -> HttpResponse:
    """Show one file; one that is not there yet is an empty editor for its owner."""
    check_name(file_name)
    owner = open_owner(request, name=file_name)
    document = find_file(owner, file_name)
    is_own = owner == request.principal.owner
    day = note_date(file_name)
    if document is None and (not is_own or is_done(file_name)):
        raise NotFound(_("There is no text in this file."))
    if document is None and day and day > today_of(owner, timezone.now()):
        raise NotFound(_("This day is not here yet."))
    return show_file(request, owner, file_name, document)


@page(Act.IDENTITY_WRITE)
def edit(request: PageRequest, file_name: str) -> HttpResponse:
    """Lead to the editor of SOUL.md or AGENTS.md, once it is sure who asks."""
    check_name(file_name)
    return see_other("workspace:one", file_name)


@page(Act.WORKSPACE_WRITE, "POST")
def save(request: PageRequest, file_name: str) -> HttpResponse:
    """Save a file, or preview what would change; what the guard flags asks for a confirmation."""
    check_name(file_name)
    owner, form = request.principal.owner, FileForm(file_name, request.POST)
    document = find_file(owner, file_name)
    text, is_confirmed = read_text(request, form, "content", kind=WORKSPACE_FILE, document=document)
    if "preview" in request.POST or form.errors:
        return show_file(
            request,
            owner,
            file_name,
            document,
            form=form,
            status=form_status(form),
        )
    version = form.cleaned_data["version"]
    check_fresh(request, file_name, text, version=version)
    try:
        saved = write_file(
            owner=owner,
            name=file_name,
            content=text,
            origin=Origin.PAGE,
            expected_version=version,
            is_confirmed=is_confirmed,
            **done_by(request),
        )
    except Invalid as refusal:
        show_refusal(form, refusal)
        return show_file(
            request,
            owner,
            file_name,
            document,
            form=form,
            status=UNREADABLE,
        )
    except Conflict:
        return show_conflict(request, owner, file_name, text, opened=version)
    return answer_saved(request, saved, restore_url(saved.document, version), "workspace:one", saved.document.name)


@page(Act.WORKSPACE_WRITE, "POST")
def restore(request: PageRequest, file_name: str, file_version: int) -> HttpResponse:
    """Put an earlier version in force again, 0 is none. What the guard flags now is confirmed in the editor."""
    check_name(file_name)
    check_fresh(request, file_name)
    owner, document = request.principal.owner, find_file(request.principal.owner, file_name)
    if document is None:
        raise NotFound(_("There is no such version."))
    text = get_version_text(document, file_version)
    if preview_document(text, document, kind=WORKSPACE_FILE):
        return ask_to_confirm(request, owner, document, text)
    before = parse_number(request.GET.get("version", "")) or document.version
    saved = restore_version(
        owner=owner,
        name=file_name,
        number=file_version,
        expected_version=before,
        **done_by(request),
    )
    return answer_saved(request, saved, restore_url(saved.document, before), "workspace:one", saved.document.name)


@page(Act.WORKSPACE_WRITE, "POST")
def warn(request: PageRequest, file_name: str) -> HttpResponse:
    """Count while somebody types, and say what the guard finds."""
    check_name(file_name)
    return show_warning(
        request,
        "content",
        find_file(request.principal.owner, file_name),
        counted,
    )


@page(Act.WORKSPACE_WRITE, "POST")
def draft(request: PageRequest, file_name: str) -> HttpResponse:
    """Keep the draft of a file, or discard it when it is empty. A script saves it every two seconds."""
    check_name(file_name)
    return keep_draft(request, partial(draft_file, name=file_name), "workspace:one", file_name)


@page(Act.WORKSPACE_WRITE, "GET", "POST")
def additions(request: PageRequest) -> HttpResponse:
    """Propose what MEMORY.md lacks of settled facts and memories in one's own words, and add what is chosen."""
    owner = request.principal.owner
    document = find_file(owner, FileName.MEMORY)
    content, version = (document.content, document.version) if document else ("", 0)
    missing = find_missing_lines(owner, content)
    form = LinesForm(
        missing,
        request.POST or None,
        initial={"version": version, "lines": missing},
    )
    chosen = missing
    if form.is_bound and form.is_valid():
        chosen = form.cleaned_data["lines"]
        if chosen and "preview" not in request.POST:
            try:
                text = add_lines(content, chosen)
                return add_chosen(
                    request,
                    owner,
                    document,
                    text,
                    version=form.cleaned_data["version"],
                )
            except Invalid as refusal:
                show_refusal(form, refusal)
    context = {
        "title": _("Additions to MEMORY.md"),
        "form": form,
        "has_missing": bool(missing),
        "changes": word_diff(content, add_lines(content, chosen)) if chosen else [],
    }
    return render_page(
        request,
        "profile_app/workspace/additions.html",
        context,
        status=form_status(form),
    )


def add_chosen(
    request: PageRequest,
    owner: User,
    document: Document | None,
    text: str,
    *,
    version: int,
) -> HttpResponse:
    """Store MEMORY.md with its additions; what the guard flags is confirmed in the editor."""
    if document and preview_document(text, document, kind=WORKSPACE_FILE):
        return ask_to_confirm(request, owner, document, text)
    try:
        saved = write_file(
            owner=owner,
            name=FileName.MEMORY,
            content=text,
            origin=Origin.PROPOSAL,
            expected_version=version,
            **done_by(request),
        )
    except Conflict:
        toast(request, _("MEMORY.md changed since you opened this page. Choose again."))
        return see_other("workspace:additions")
    return answer_saved(request, saved, restore_url(saved.document, version), "workspace:one", saved.document.name)


def check_name(name: str) -> None:
    """Raise NotFound for a name that no file has."""
    if placement_of(name) is None:
        raise NotFound(unknown_name_label())


def check_fresh(
    request: PageRequest,
    name: str,
    text: str | None = None,
    *,
    version: int = 0,
) -> None:
    """Ask for a fresh sign-in before SOUL.md and AGENTS.md change; what was typed is kept as a draft meanwhile."""
    if name not in IDENTITY_FILES:
        return
    principal = request.principal
    if text is not None and not principal.is_fresh:
        draft_file(
            owner=principal.owner,
            name=name,
            draft=text,
            version=version,
            now=timezone.now(),
        )
    principal.require(Act.IDENTITY_WRITE)


def show_file(
    request: PageRequest,
    owner: User,
    name: str,
    document: Document | None,
    *,
    form: FileForm | None = None,
    status: int = HTTPStatus.OK,
    **extra: Any,
) -> HttpResponse:
    """Answer the page of a file, with its form as it was sent."""
    reader, below = request.principal.owner, parse_number(request.GET.get("below", ""))
    context = file_context(
        name,
        document,
        owner,
        reader,
        below=below,
        now=timezone.now(),
    )
    in_force = document.content if document else ""
    opened, version = document.opened if document else ("", 0)
    form = form or FileForm(name, initial={"content": opened, "version": version})
    typed = str(form["content"].value() or "")
    text = "" if storable_problem(typed) else kept_newlines(typed, in_force)
    may_edit = context["is_own"] and not context["is_done"]
    context |= {
        "title": name,
        "form": form,
        "may_edit": may_edit,
        "is_editor": may_edit and (request.principal.is_fresh or name not in IDENTITY_FILES),
        "changes": word_diff(in_force, text) if may_edit and text != in_force else None,
        "is_same": "preview" in request.POST and text == in_force,
        **(counted(text, document) if may_edit else {}),
        **extra,
    }
    return render_page(
        request,
        "profile_app/workspace/one.html",
        context,
        status=status,
    )


def show_conflict(
    request: PageRequest,
    owner: User,
    name: str,
    text: str,
    *,
    opened: int,
) -> HttpResponse:
    """Show what was stored meanwhile beside what its editor typed; saving again takes that into account."""
    document = find_file(owner, name)
    if document is None:  # its writer saw a version of a file that is gone
        form = FileForm(name, {"content": text, "version": 0})
        form.add_error(None, _("This changed since you opened it. Save to store yours."))
        return show_file(
            request,
            owner,
            name,
            None,
            form=form,
            status=HTTPStatus.CONFLICT,
        )
    form = FileForm(name, initial={"content": text, "version": document.version})
    conflict = shape_conflict(document, opened=opened, mine=text, reader=owner)
    return show_file(
        request,
        owner,
        name,
        document,
        form=form,
        conflict=conflict,
        status=HTTPStatus.CONFLICT,
    )


def ask_to_confirm(
    request: PageRequest,
    owner: User,
    document: Document,
    text: str,
) -> HttpResponse:
    """Show a text in the editor that the guard flags, to be confirmed."""
    form = FileForm(document.name, {"content": text, "version": document.version})
    form.add_error("content", NOT_STORED)
    return show_file(
        request,
        owner,
        document.name,
        document,
        form=form,
        status=UNREADABLE,
    )
