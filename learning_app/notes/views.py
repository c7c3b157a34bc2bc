"""Writing a note from the page of a trade or a case."""

from django.http import HttpResponse
from django.utils.translation import gettext as _

from learning_app.notes.models import NOTE_KIND
from learning_app.notes.services import write_note
from minara_site.shell.pages import PageRequest, done_by
from minara_site.shell.undo import undo_url
from minara_site.web.responses import see_other, toast


def save_note(request: PageRequest, kind: str, key: str, page: str, page_id: int | str) -> HttpResponse:
    """Keep what an owner wrote beside something of their own, and go back to its page. Raises Invalid."""
    principal, text = request.principal, request.POST.get("text", "").replace("\r\n", "\n")
    row = write_note(owner_id=principal.owner.pk, kind=kind, key=key, text=text, **done_by(request))
    if row:
        toast(request, _("Note saved."), undo_url(NOTE_KIND, row, principal))
    else:
        toast(request, _("Nothing changed."))
    return see_other(page, page_id)
