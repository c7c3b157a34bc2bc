"""Writes of notes: one transaction has the row, its hold and its audit entry."""

from datetime import datetime

from django.db import transaction

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.guard.held_at import store_judged
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
