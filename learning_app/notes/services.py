"""Writing a note; the words before are kept, and an undo brings them back."""

from datetime import datetime

from learning_app.notes.models import MAX_NOTE_CHARS, NOTE_KIND, OwnNote
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.changes.services import keep_texts, name_set, record, watch
from minara_site.kernel.ownership import owner_locked
from minara_site.kernel.plain_text import clean_text


def write_note(
    *,
    owner_id: int,
    kind: str,
    key: str,
    text: str,
    actor: str,
    now: datetime,
    stop_price: str | None = None,
) -> OwnNote | None:
    """Return the note as it is said now, None where it reads so already. Raises Invalid for what cannot be stored.

    Without a `stop_price` that of before stays.

    `kind` is one of BESIDE, `key` of something of this owner.
    """
    text = clean_text(text, field="text", max_chars=MAX_NOTE_CHARS, min_chars=0)
    with owner_locked(owner_id):
        beside = {"owner_id": owner_id, "kind": kind, "key": key}
        row: OwnNote | None = OwnNote.objects.filter(**beside).first()
        stop_price = (row.stop_price if row else "") if stop_price is None else stop_price
        if (text, stop_price) == ((row.text, row.stop_price) if row else ("", "")):
            return None
        row = row or OwnNote.objects.create(**beside, actor=actor, created_at=now, updated_at=now)
        watched, earlier = watch(NOTE_KIND, [row]), {"text": row.text, "stop_price": row.stop_price}
        row.text, row.stop_price, row.updated_at = text, stop_price, now
        keep_texts(NOTE_KIND, row, earlier, actor=actor, now=now)
        row.save()
        made = record("own_note_kept", watched, actor=actor, at=now)
        details = {"id": row.pk, "sha256": content_digest("\n".join(filter(None, (text, stop_price))))} | name_set(made)
        record_audit(now=now, actor=actor, tool_call="own_note_kept", owner_id=owner_id, details=details)
    return row
