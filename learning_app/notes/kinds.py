"""Own notes as a kind that acts change."""

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from learning_app.notes.models import NOTE_KIND, OwnNote
from minara_site.kernel.changes.kinds import Changes


class OwnNoteChanges(Changes):
    """The words of a note; one whose first words are undone is empty."""

    name, model, label = NOTE_KIND, OwnNote, _("Own note")
    columns, beside, texts = ("text_version", "updated_at"), ("updated_at",), ("text", "stop_price")
    undone = ngettext_lazy("Undone for %(number)s note.", "Undone for %(number)s notes.", "count")
