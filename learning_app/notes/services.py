"""Writing a note; the words before are kept, and an undo brings them back."""

from datetime import datetime

from learning_app.notes.models import MAX_NOTE_CHARS, NOTE_KIND, OwnNote
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.changes.services import keep_texts, name_set, record, watch
from minara_site.kernel.ownership import owner_locked
from minara_site.kernel.plain_text import clean_text


def write_note(*, owner_id: int, kind: str, key: str, text: str, actor: str, now: datetime) -> OwnNote:
    """Return the note with these words, which may be none. Raises Invalid for what cannot be stored."""
    text = clean_text(text, field="text", max_chars=MAX_NOTE_CHARS, min_chars=0)
    with owner_locked(owner_id):
        new = {"actor": actor, "created_at": now, "updated_at": now}
        row: OwnNote = OwnNote.objects.get_or_create(owner_id=owner_id, kind=kind, key=key, defaults=new)[0]
        if text != row.text:
            watched, earlier = watch(NOTE_KIND, [row]), {"text": row.text}
            row.text, row.updated_at = text, now
            keep_texts(NOTE_KIND, row, earlier, actor=actor, now=now)
            row.save()
            made = record("own_note_kept", watched, actor=actor, at=now)
            details = {"id": row.pk, "sha256": content_digest(text)} | name_set(made)
            record_audit(now=now, actor=actor, tool_call="own_note_kept", owner_id=owner_id, details=details)
    return row
