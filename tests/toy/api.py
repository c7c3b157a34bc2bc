"""`/v1/notes`: write notes and read them."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from ninja import Query, Router, Schema, Status

from minara_site.access.access_log import log_access
from minara_site.access.api_auth import allow
from minara_site.access.policy import Act
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import find_refused, hold_record
from minara_site.shell.pages import PageRequest
from minara_site.web.keyset import Order, paginate
from minara_site.web.schemas import Data, HeldOut, Items, PageQuery, Strict
from tests.toy.models import NOTE_KIND, Note
from tests.toy.services import write_note

router = Router(tags=["notes"])


class NoteOut(Schema):
    """One note."""

    id: int
    text: str
    updated_at: datetime


class NewNote(Strict):
    """A note of 1 to 500 characters."""

    text: str


class NoteHeld(Data[NoteOut]):
    """The note is stored and waits for an operator."""

    held: HeldOut


@router.post(
    "/notes", summary="Write a note", auth=allow(Act.MEMORY_WRITE), response={201: Data[NoteOut], 202: NoteHeld}
)
def create(request: PageRequest, payload: NewNote) -> Status[dict[str, Any]]:
    """Write a note; 202 says that the guard holds it."""
    principal = request.principal
    note, hold = write_note(owner=principal.owner, text=payload.text, actor=principal.actor, now=timezone.now())
    return Status(202, {"data": note, "held": hold_record(hold)}) if hold else Status(201, {"data": note})


@router.get("/notes", summary="List notes", auth=allow(Act.MEMORY_READ), response=Data[Items[NoteOut]])
def list_(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List notes, newest first; a page is shorter by what the guard's newest rules refuse."""
    owner = request.principal.reads(Act.MEMORY_READ, query.owner)
    rows = Note.objects.for_owner(owner).filter(held_at__isnull=True)
    page = paginate(rows, Order("updated_at"), cursor=query.cursor, limit=query.limit, scope="v1/notes")
    owner_ids = {note.owner_id for note in page.items}
    log_access(principal=request.principal, owner_ids=owner_ids, kind="notes", now=timezone.now())
    refused = find_refused(NOTE_KIND, page.items)
    items = [masked_for(request.principal.owner, note) for note in page.items if note.pk not in refused]
    return {"data": {"items": items, "next_cursor": page.next_cursor}}
