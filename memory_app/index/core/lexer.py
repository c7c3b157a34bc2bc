"""Cuts a query into pieces, takes the filters out and puts the parentheses in order."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from memory_app.index.core.query import Filters, Note, NoteCode
from minara_site.kernel.core.assets import CLASSES
from minara_site.kernel.core.symbols import normalise_asset
from minara_site.kernel.core.vocabulary import Category, Source

MAX_DEPTH = 16

_LEXEME = re.compile(
    r"""(?P<open>[(\uff08])
      | (?P<close>[)\uff09])
      | (?P<field>(?i:category|source|asset|before|after))[:\uff1a]
        (?:"(?P<quoted>[^"]*)"?|(?P<value>[^\s"“”()\uff08\uff09]+))
      | ["“”](?P<phrase>[^"“”]*)["“”](?P<star>\*)?
      | (?P<quote>["“”])
      | (?P<operator>AND|OR|NOT)(?=[\s"“”()\uff08\uff09]|$)
      | (?P<word>[^\s"“”()\uff08\uff09]+)""",
    re.VERBOSE,
)
_NAMED = {
    "category": ("categories", frozenset(Category), NoteCode.UNKNOWN_CATEGORY),
    "source": ("sources", frozenset(Source), NoteCode.UNKNOWN_SOURCE),
    "asset": ("assets", frozenset(CLASSES), NoteCode.UNKNOWN_ASSET),
}
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A piece of a query. `kind` is open, close, field, phrase, operator or word; `value` belongs to a field."""

    kind: str
    text: str
    value: str = ""
    has_star: bool = False


@dataclass
class Lexed:
    """A query in pieces: parentheses balanced, filters apart."""

    lexemes: list[Lexeme]
    filters: Filters
    notes: list[Note] = field(default_factory=list)


def lex(text: str) -> Lexed:
    """Return the pieces of a query."""
    notes: list[Note] = []
    lexemes: list[Lexeme] = []
    for found in _LEXEME.finditer(text):
        if not found["quote"]:
            lexemes.append(read_lexeme(found))
        elif text[found.end() :].strip():  # at the end it says nothing
            notes.append(Note(NoteCode.QUOTE_IGNORED))
    filters, lexemes = take_filters(lexemes, notes)
    if any(each.kind == "operator" for each in lexemes):
        lexemes = balance(lexemes, notes)
    else:
        lexemes = [each for each in lexemes if each.kind not in {"open", "close"}]
    return Lexed(lexemes, filters, notes)


def read_lexeme(found: re.Match[str]) -> Lexeme:
    """Return the piece that the pattern found."""
    if found["field"]:
        return Lexeme(
            "field",
            found["field"].casefold(),
            found["quoted"] or found["value"] or "",
        )
    if found["phrase"] is not None:
        return Lexeme("phrase", found["phrase"], has_star=found["star"] is not None)
    kind = str(found.lastgroup)
    return Lexeme(
        kind,
        found.group(),
        has_star=kind == "word" and found.group().endswith("*"),
    )


def take_filters(lexemes: list[Lexeme], notes: list[Note]) -> tuple[Filters, list[Lexeme]]:
    """Return the filters and what remains, without the operators that joined them."""
    filters, kept = Filters(), list[Lexeme]()
    skip_operator = False
    for lexeme in lexemes:
        if lexeme.kind == "field":
            is_wanted = not drop_operator(kept, {"NOT"})
            joined = drop_operator(kept, {"AND", "OR"})
            if joined == "OR":
                notes.append(Note(NoteCode.FILTER_NARROWS, f"{lexeme.text}:{lexeme.value}"))
            filters = with_filter(filters, lexeme, notes, is_wanted=is_wanted)
            skip_operator = not joined
        elif skip_operator and lexeme.kind == "operator" and lexeme.text != "NOT":
            if lexeme.text == "OR":
                notes.append(Note(NoteCode.FILTER_NARROWS, "OR"))
            skip_operator = False
        else:
            kept.append(lexeme)
            skip_operator = False
    return filters, kept


def drop_operator(lexemes: list[Lexeme], names: set[str]) -> str:
    """Remove the last piece when it is one of these operators and return its name, else nothing."""
    if lexemes and lexemes[-1].kind == "operator" and lexemes[-1].text in names:
        return lexemes.pop().text
    return ""


def with_filter(
    filters: Filters,
    lexeme: Lexeme,
    notes: list[Note],
    *,
    is_wanted: bool,
) -> Filters:
    """Add one filter; a value that cannot match and a day that cannot be read leave a note."""
    value = lexeme.value.strip().casefold()
    if lexeme.text in {"before", "after"}:
        day = read_day(value)
        if day is None:
            notes.append(Note(NoteCode.BAD_DATE, lexeme.value))
            return filters
        return replace(filters, before=day) if lexeme.text == "before" else replace(filters, after=day)
    if lexeme.text == "asset":
        value = normalise_asset(value) or value
    name, known, code = _NAMED[lexeme.text]
    if value not in known:
        notes.append(Note(code, lexeme.value))
    name = name if is_wanted else f"not_{name}"
    changes: dict[str, Any] = {name: getattr(filters, name) | {value}}
    return replace(filters, **changes)


def read_day(text: str) -> date | None:
    """Return the first day of 2026, 2026-05 or 2026-05-31; None when it is no date."""
    found = _DAY.fullmatch(text)
    if found is None:
        return None
    try:
        return date(
            int(found[1]),
            int(found[2] or 1),
            int(found[3] or 1),
        )
    except ValueError:
        return None


def balance(lexemes: Iterable[Lexeme], notes: list[Note]) -> list[Lexeme]:
    """Drop parentheses that close nothing or stand deeper than MAX_DEPTH; close those that stay open."""
    kept: list[Lexeme] = []
    depth = 0
    for lexeme in lexemes:
        if lexeme.kind == "close" and depth == 0:
            notes.append(Note(NoteCode.PARENTHESIS_IGNORED, lexeme.text))
            continue
        depth += lexeme.kind == "open"
        if lexeme.kind not in {"open", "close"} or depth <= MAX_DEPTH:
            kept.append(lexeme)
        depth -= lexeme.kind == "close"
    if depth:
        notes.append(Note(NoteCode.PARENTHESIS_IGNORED, "("))
    return kept + [Lexeme("close", ")")] * min(depth, MAX_DEPTH)
