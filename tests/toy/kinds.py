"""The app's kinds of stored text."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.guard.held_at import HeldAtKind
from tests.toy.models import NOTE_KIND, Note


class NoteKind(HeldAtKind):
    """The text of a note."""

    name = NOTE_KIND
    label = _("Note")
    model = Note


KINDS = (NoteKind(),)
