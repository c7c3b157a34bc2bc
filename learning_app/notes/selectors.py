"""Reads of own notes."""

from learning_app.notes.models import OwnNote
from minara_site.access.principal import Principal


def find_note(principal: Principal, kind: str, key: object) -> OwnNote | None:
    """Return what this reader wrote beside something of their own. One query."""
    notes = OwnNote.objects.for_owner(principal.owner).filter(kind=kind, key=str(key))
    note: OwnNote | None = notes.first()
    return note
