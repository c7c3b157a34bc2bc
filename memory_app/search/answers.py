"""How hits and notes read at the doors."""

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory_app.search.core.parser import MAX_TERMS
from memory_app.search.core.query import Note, NoteCode
from memory_app.search.core.terms import MIN_PREFIX_CHARS
from memory_app.search.selectors import Hit

NOTES: dict[NoteCode, str | Promise] = {
    NoteCode.QUOTE_CLOSED: _("The quotation “%(subject)s” was not closed; it was closed at the end."),
    NoteCode.PARENTHESIS_IGNORED: _("A parenthesis without its other half was left out."),
    NoteCode.OPERATOR_IGNORED: _("%(subject)s has nothing on one side; it was left out."),
    NoteCode.FILTER_NARROWS: _("A filter always narrows; the OR beside %(subject)s was left out."),
    NoteCode.COMMON_WORDS: _("Too common to look for: %(subject)s. Put them in quotes to find them."),
    NoteCode.PREFIX_TOO_SHORT: _("%(subject)s was searched as a word; a prefix needs %(min)d characters."),
    NoteCode.UNKNOWN_CATEGORY: _("There is no category “%(subject)s”."),
    NoteCode.UNKNOWN_SOURCE: _("There is no source “%(subject)s”."),
    NoteCode.BAD_DATE: _("“%(subject)s” is no date; write 2026, 2026-05 or 2026-05-31."),
    NoteCode.TOO_MANY_WORDS: _("Only the first %(max)d words were looked for."),
    NoteCode.LITERAL: _("“%(subject)s” has no word in it; it was looked for as it stands."),
}


def note_text(note: Note) -> str:
    """Return a note in the reader's language."""
    return NOTES[note.code] % {"subject": note.subject, "min": MIN_PREFIX_CHARS, "max": MAX_TERMS}


def hit_record(hit: Hit) -> dict[str, Any]:
    """Return a hit as API and tools answer it (contract); `explain` only when it was asked for."""
    record: dict[str, Any] = {
        "id": hit.id,
        "category": hit.category,
        "content": hit.content,
        "source": hit.source,
        "score": round(hit.score, 6),
        "updated_at": hit.updated_at,
    }
    if hit.explain is not None:
        record["explain"] = {
            "matched": list(hit.explain.matched),
            "bm25": round(hit.explain.bm25, 6),
            "closeness": round(hit.explain.closeness, 6),
            "entities": list(hit.explain.entities),
            "rank_before": hit.explain.rank_before,
            "rank": hit.explain.rank,
        }
    return record
