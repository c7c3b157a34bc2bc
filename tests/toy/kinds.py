"""The app's kinds."""

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from minara_site.kernel.changes.kinds import Changes
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.registry import Kind
from tests.toy.models import NOTE_KIND, Note


class NoteText(HeldAtKind):
    """The text of a note."""

    name = NOTE_KIND
    label = _("Note")
    model = Note


class NoteChanges(Changes):
    """What is done to notes. One whose writing is undone goes into the archive."""

    name, model, columns = NOTE_KIND, Note, ("archived_at", "updated_at")
    beside = ("updated_at",)
    undone = ngettext_lazy("Undone for %(number)s note.", "Undone for %(number)s notes.", "count")

    def gone(self, state, *, actor, now):
        return {"archived_at": now, "updated_at": now}


KINDS = (Kind(NOTE_KIND, (NoteText(), NoteChanges())),)
