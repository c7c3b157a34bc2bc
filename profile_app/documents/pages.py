"""How a document looks on its page: versions, the text that waits, drafts and conflicts. For every kind of document."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.kernel.core.diff import Segment, word_diff
from minara_site.kernel.guard.core import OWNER_DECIDES, Finding, Reason
from minara_site.kernel.guard.labels import SENTENCES, NamedRule, name_rules
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.preview import GuardPreview, preview_text
from profile_app.documents.core import MAX_CHARS, Origin
from profile_app.documents.models import Document
from profile_app.documents.selectors import find_hold, list_revisions

ORIGINS: dict[Origin, str | Promise] = {
    Origin.PAGE: _("written on its page"),
    Origin.KEY: _("written with a key"),
    Origin.FOLDER: _("from the folder"),
    Origin.SETUP: _("made by the set-up"),
    Origin.COMMAND: _("written at the command line"),
    Origin.REVERT: _("an earlier version restored"),
    Origin.PROPOSAL: _("proposed additions accepted"),
    Origin.SERVICE: _("written by a job"),
}
VERSIONS_SHOWN = 10
MAX_COMPARED = 20_000
"""The characters that one page compares beyond its first version."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version, `chars` long: what it changed against the one that it replaced, None where that was not compared.

    `first_url` is the list that begins with it, and compares it.
    """

    number: int
    author: str
    origin: str | Promise
    created_at: datetime
    changes: Sequence[Segment] | None
    chars: int
    is_current: bool
    first_url: str
    restore_url: str


@dataclass(frozen=True, slots=True)
class WaitingText:
    """The text that waits beside the one in force: why, who wrote it, and what it would change."""

    hold_id: int
    author: str
    held_at: datetime
    sentence: str | Promise
    rules: Sequence[NamedRule]
    changes: Sequence[Segment]


@dataclass(frozen=True, slots=True)
class EditConflict:
    """What somebody else stored while a text was edited: both changes against the version that was opened."""

    author: str
    version: int
    updated_at: datetime
    theirs: Sequence[Segment]
    mine: Sequence[Segment]


def shape_versions(
    document: Document,
    *,
    reader: User,
    restore_url: Callable[[int], str],
    below: int | None = None,
    limit: int = VERSIONS_SHOWN,
) -> list[VersionRow]:
    """Return the newest versions, or those below a number; secrets of another owner are masked. Four queries at most.

    `restore_url` returns where a version is put in force again. The first is compared, others while they are short.
    """
    rows = list_revisions(document)
    found = list((rows if below is None else rows.filter(number__lt=below))[:limit])
    texts = {row.number: row.content for row in found}
    missing = {row.replaced for row in found} - texts.keys() - {0}
    if missing:
        texts |= dict(rows.filter(number__in=missing).values_list("number", "content"))
    names = name_actors({row.actor for row in found}, reader=reader)
    is_own = document.owner_id == reader.pk
    shown, whose = (str, "") if is_own else (mask, f"&owner={document.owner.username}")
    pairs = [
        (
            shown(texts.get(row.replaced, "")),
            shown(row.content),
        )
        for row in found
    ]
    totals = list(accumulate(len(before) + len(after) for before, after in pairs))
    return [
        VersionRow(
            number=row.number,
            author=names[row.actor],
            origin=ORIGINS[Origin(row.origin)],
            created_at=row.created_at,
            changes=word_diff(*pair) if total - totals[0] <= MAX_COMPARED else None,
            chars=len(row.content),
            is_current=row.number == document.version,
            first_url=f"?below={row.number + 1}{whose}#versions",
            restore_url=restore_url(row.number),
        )
        for row, pair, total in zip(found, pairs, totals, strict=True)
    ]


def shape_waiting(document: Document, *, reader: User) -> WaitingText | None:
    """Return the text that waits, None when none does. Three queries at most."""
    hold = find_hold(document)
    if hold is None or document.held_at is None:
        return None
    shown = str if document.owner_id == reader.pk else mask
    findings = [
        Finding(
            each["rule"],
            Reason(each["reason"]),
            each["start"],
            each["end"],
        )
        for each in hold.findings
    ]
    found = [finding for finding in findings if finding.rule != OWNER_DECIDES]
    return WaitingText(
        hold_id=hold.pk,
        author=name_actors({hold.actor}, reader=reader)[hold.actor],
        held_at=document.held_at,
        sentence=SENTENCES[findings[0].reason],
        rules=name_rules(found),
        changes=word_diff(shown(document.content), shown(document.held_content)),
    )


def shape_conflict(
    document: Document,
    *,
    opened: int,
    mine: str,
    reader: User,
) -> EditConflict:
    """Return what changed since this version was opened, beside what its editor wants. Three queries at most."""
    base = list_revisions(document).filter(number=opened).values_list("content", flat=True).first() or ""
    return EditConflict(
        author=name_actors({document.actor}, reader=reader)[document.actor],
        version=document.version,
        updated_at=document.updated_at,
        theirs=word_diff(base, document.content),
        mine=word_diff(base, mine),
    )


def count_text(
    text: str,
    document: Document | None,
    *,
    kind: str,
    tokens: int,
) -> dict[str, Any]:
    """Return how long a text is, what it costs, and what the guard finds in it."""
    return {
        "chars": len(text),
        "max_chars": MAX_CHARS[kind],
        "tokens": tokens,
        "preview": preview_document(text, document, kind=kind),
    }


def preview_document(text: str, document: Document | None, *, kind: str) -> GuardPreview | None:
    """Return why the guard flags this text, None when it accepts it."""
    return preview_text(
        text[: MAX_CHARS[kind]],
        kind=kind,
        object_id=document.pk if document else None,
    )
