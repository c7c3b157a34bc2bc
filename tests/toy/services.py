"""Writes of notes: one transaction has the rows, their holds, what changed, and the audit entry."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.changes.services import name_set, record, watch
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.ownership import Owner
from minara_site.kernel.plain_text import clean_text
from tests.toy.models import NOTE_KIND, Note

MAX_TEXT_CHARS = 500


def write_note(*, owner: User, text: str, actor: str, now: datetime, reasoning: str = "") -> Note:
    """Store a note; one that the guard refuses is held. Raises Invalid."""
    text = clean_text(text, field="text", max_chars=MAX_TEXT_CHARS)
    note = Note(owner=owner, text=text, actor=actor, created_at=now, updated_at=now)
    with transaction.atomic():
        store_judged(NOTE_KIND, note, now=now)
        details = {"id": note.pk, "sha256": content_digest(text)}
        record_audit(
            now=now,
            actor=actor,
            tool_call="note_written",
            owner_id=owner.pk,
            reasoning=reasoning,
            details=details,
        )
    return note


def archive_notes(*, owner: Owner, ids: Collection[int], actor: str, now: datetime) -> ChangeSet | None:
    """Put notes into the archive; return by what that is undone, None when all were there."""
    with transaction.atomic():
        rows = Note.objects.for_owner(owner).filter(pk__in=ids, archived_at=None).order_by("pk")
        watched = watch(NOTE_KIND, list(rows.select_for_update(of=("self",))))
        for _kind, note, _before in watched:
            note.archived_at = note.updated_at = now
            note.save(update_fields=["archived_at", "updated_at"])
        made = record("notes_archived", watched, actor=actor, at=now)
        for _kind, note, _before in watched:
            details = {"id": note.pk} | name_set(made)
            record_audit(now=now, actor=actor, tool_call="notes_archived", owner_id=note.owner_id, details=details)
        return made
