"""Reflected decisions as files: `trade-cases/<id>.md`. Source: S1 (markdown round-trip).

They are exported only: a reflection is written once, by the instance that saw the outcome, so no import reads them and
the preview counts them among the files that are left alone.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from memory_app.bundle.core.front_matter import render_document, render_json
from memory_app.bundle.serialisers.base import ExportScope, LeftOut, OutFile, Serialiser, slices
from memory_app.roles.core import Status
from memory_app.roles.models import RoleMemory
from memory_app.roles.selectors import find_refused
from minara_site.kernel.guard.masking import masked_for

KIND = "trade_case"
FOLDER = "trade-cases"


def export(wanted: ExportScope) -> Iterator[OutFile]:
    """Yield every reflected decision, oldest first; one of which the guard holds something stays out."""
    reflected = RoleMemory.objects.for_owner(wanted.owner).filter(status=Status.REFLECTED)
    for entries in slices(reflected):
        refused = find_refused(entries)
        for entry in entries:
            if entry.held_at or entry.lesson_held_at or entry.pk in refused:
                wanted.left_out[LeftOut.HELD] += 1
            else:
                yield to_file(masked_for(wanted.reader, entry), wanted)


def to_file(entry: RoleMemory, wanted: ExportScope) -> OutFile:
    """Return the file of a decision: prices in text, the change in percent, times in UTC; what is empty is left out."""
    fields = {
        "id": entry.pk,
        "role_id": entry.role_id,
        "skill_id": entry.skill_id,
        "asset": entry.asset,
        "direction": entry.direction,
        "decided_at": utc(entry.decided_at),
        "outcome": entry.outcome,
        "outcome_at": utc(entry.outcome_at),
        "outcome_by": entry.outcome_by,
        "pnl_pct": entry.pnl_pct,
        "entry_price": None if entry.entry_price is None else f"{entry.entry_price.normalize():f}",
        "exit_price": None if entry.exit_price is None else f"{entry.exit_price.normalize():f}",
        "class": entry.classification,
        "reflected_at": utc(entry.reflected_at),
    }
    head = wanted.head(KIND, **fields)
    return OutFile(f"{FOLDER}/{entry.pk}.md", render_document(head, body_of(entry)))


def utc(at: datetime | None) -> str | None:
    """Return a time as text."""
    return None if at is None else at.astimezone(UTC).isoformat()


def body_of(entry: RoleMemory) -> str:
    """Return what was known, decided, found and learned, each under its heading."""
    parts = (
        ("Decision", entry.decision),
        ("Inputs", render_json(entry.inputs)),
        ("Outcome note", entry.outcome_note),
        ("Narrative", entry.narrative),
        ("Lesson", entry.lesson),
    )
    return "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts if text)


TRADE_CASES = Serialiser(KIND, f"{FOLDER}/", export)
