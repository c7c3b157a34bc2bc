"""Writing a note from the page of a trade or a case."""

from django.utils.translation import gettext as _

from learning_app.notes.forms import IsLoss, NoteForm
from learning_app.notes.models import NOTE_KIND
from learning_app.notes.services import write_note
from minara_site.kernel.errors import Invalid
from minara_site.shell.pages import PageRequest, done_by
from minara_site.shell.undo import undo_url
from minara_site.web.forms import show_refusal
from minara_site.web.responses import toast


def save_note(request: PageRequest, kind: str, key: str, *, is_loss: IsLoss | None = None) -> NoteForm | None:
    """Keep what an owner wrote beside something of their own; return the form where it cannot be kept."""
    principal, form = request.principal, NoteForm(request.POST, is_loss=is_loss)
    if not form.is_valid():
        return form
    try:
        row = write_note(owner_id=principal.owner.pk, kind=kind, key=key, **form.cleaned_data, **done_by(request))
    except Invalid as refusal:
        show_refusal(form, refusal)
        return form
    if row:
        toast(request, _("Note saved."), undo_url(NOTE_KIND, row, principal))
    else:
        toast(request, _("Nothing changed."))
    return None
