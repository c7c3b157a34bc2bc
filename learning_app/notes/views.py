"""Writing a note beside a trade or a case, from its page."""

from django.http import HttpResponse
from django.utils.translation import gettext as _

from learning_app.notes.models import BESIDE, NOTE_KIND
from learning_app.notes.services import write_note
from minara_site.access.policy import Act
from minara_site.kernel.errors import NotFound
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.shell.undo import undo_url
from minara_site.web.responses import back, toast


@page(Act.NOTE_WRITE, "POST")
def write(request: PageRequest, note_kind: str, note_key: str) -> HttpResponse:
    """Keep what the owner wrote, and go back to where it is shown. Raises Invalid and NotFound."""
    if note_kind not in BESIDE:
        raise NotFound(_("No note can be kept there."))
    principal, text = request.principal, request.POST.get("text", "").replace("\r\n", "\n")
    row = write_note(owner_id=principal.owner.pk, kind=note_kind, key=note_key[:40], text=text, **done_by(request))
    toast(request, _("Note saved."), undo_url(NOTE_KIND, row, principal))
    return back(request, "ledger:list")
