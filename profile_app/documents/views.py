"""What the editors of documents have in common: what a form sends, its draft, the warning, what became of a text."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.forms import Form
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.kernel.plain_text import parse_number, storable_problem
from minara_site.shell.pages import PageRequest
from minara_site.web.responses import render_page, see_other, toast
from profile_app.documents.core import kept_newlines
from profile_app.documents.models import Document
from profile_app.documents.pages import preview_document
from profile_app.documents.services import SavedDocument

UNREADABLE = HTTPStatus.UNPROCESSABLE_ENTITY
NOT_STORED = gettext_lazy("Nothing is stored yet. Change the text, or confirm it below.")


def read_text(
    request: PageRequest,
    form: Form,
    field: str,
    *,
    kind: str,
    document: Document | None,
) -> tuple[str, bool]:
    """Return the text of a form, and whether its writer confirmed what the guard flags in it; else the form says so."""
    if not form.is_valid():
        return "", False
    text = kept_newlines(form.cleaned_data[field], document.content if document else "")
    preview = None if storable_problem(text) else preview_document(text, document, kind=kind)
    is_confirmed = preview is not None and request.POST.get("anyway") == preview.token
    if preview and not is_confirmed and "preview" not in request.POST:
        form.add_error(field, NOT_STORED)
    return text, is_confirmed


def show_warning(
    request: PageRequest,
    field: str,
    document: Document | None,
    counted: Callable[[str, Document | None], dict[str, Any]],
) -> HttpResponse:
    """Answer how long a text is that somebody types, and what the guard finds in it."""
    text = request.POST.get(field, "").replace("\r\n", "\n")
    shown = counted("" if storable_problem(text) else text, document)
    return render_page(request, "profile_app/documents/_guard_confirm.html", shown)


def keep_draft(request: PageRequest, keep: Callable[..., Document], *page: str) -> HttpResponse:
    """Keep a draft, or discard it when it is empty. A script saves it every two seconds, and reads whether it is."""
    draft = request.POST.get("draft", "").replace("\r\n", "\n")
    keep(
        owner=request.principal.owner,
        draft=draft,
        version=parse_number(request.POST.get("version", "")) or 0,
        now=timezone.now(),
    )
    if request.headers.get("X-Draft"):
        return HttpResponse(_("Draft saved"), content_type="text/plain; charset=utf-8")
    toast(request, _("Draft saved. No prompt carries it.") if draft else _("Draft discarded."))
    return see_other(*page)


def answer_saved(
    request: PageRequest,
    saved: SavedDocument,
    undo_url: str,
    *page: str,
) -> HttpResponse:
    """Say what became of a text, with its undo."""
    if saved.hold:
        toast(request, _("Stored, but held: no agent reads it until you let it in."))
    elif saved.is_changed:
        toast(request, _("Saved. It is read from the next session on."), undo_url)
    else:
        toast(request, _("Nothing was changed: this text is in force already."))
    return see_other(*page)
