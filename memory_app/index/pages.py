"""The search box of lists, and what the parser of queries says in the reader's language."""

from collections.abc import Callable

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory_app.index.core.parser import MAX_QUERY_CHARS, MAX_TERMS
from memory_app.index.core.query import Note, NoteCode
from memory_app.index.core.terms import MIN_PREFIX_CHARS
from memory_app.index.selectors import read_query
from minara_site.kernel.ownership import Owner
from minara_site.web.filters import Filter, FilterKind, Rows, Text

NOTES: dict[NoteCode, str | Promise] = {
    NoteCode.CUT: _("Only the first %(chars)d characters were looked for; the query has %(subject)s."),
    NoteCode.PHRASE_AS_WORDS: _("Nothing was found with “%(subject)s” as quoted; its words were looked for instead."),
    NoteCode.QUOTE_IGNORED: _("A quotation mark without its other half was left out."),
    NoteCode.PARENTHESIS_IGNORED: _("A parenthesis without its other half was left out."),
    NoteCode.OPERATOR_IGNORED: _("%(subject)s has nothing on one side; it was left out."),
    NoteCode.FILTER_NARROWS: _("A filter always narrows; the OR beside %(subject)s was left out."),
    NoteCode.COMMON_WORDS: _("Too common to look for: %(subject)s. Put them in quotes to find them."),
    NoteCode.PREFIX_TOO_SHORT: _("%(subject)s was searched as a word; a prefix needs %(min)d characters."),
    NoteCode.UNKNOWN_CATEGORY: _("There is no category “%(subject)s”."),
    NoteCode.UNKNOWN_SOURCE: _("There is no source “%(subject)s”."),
    NoteCode.UNKNOWN_ASSET: _("“%(subject)s” is not a known asset."),
    NoteCode.BAD_DATE: _("“%(subject)s” is no date; write 2026, 2026-05 or 2026-05-31."),
    NoteCode.TOO_MANY_WORDS: _("Only the first %(max)d words were looked for."),
    NoteCode.DELETED_SINCE: _("Matched then and deleted since: %(subject)s. What is deleted is not shown."),
    NoteCode.LITERAL: _("“%(subject)s” has no word in it; it was looked for as it is written."),
}


def note_text(note: Note) -> str:
    """Return a note in the reader's language."""
    limits = {"min": MIN_PREFIX_CHARS, "max": MAX_TERMS, "chars": MAX_QUERY_CHARS}
    return NOTES[note.code] % {"subject": note.subject, **limits}


def search_filter(label: Text, narrow: Callable[..., Rows], owner: Owner) -> Filter:
    """Return the search box of a list of this owner; it understands what the search page understands."""
    return Filter(
        "q",
        label,
        FilterKind.SEARCH,
        apply=lambda rows, text: narrow(rows, owner=owner, query=text),
        remarks=lambda text: [note_text(note) for note in read_query(text).notes],
    )
