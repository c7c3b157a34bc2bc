"""`/v1/notes`: write notes and read them."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from ninja import Query, Router, Schema, Status

from minara_site.access.api_auth import allow
from minara_site.access.policy import Act
from minara_site.kernel.guard.selectors import find_refused, written_record
from minara_site.shell.answers import answer_page
from minara_site.shell.pages import PageRequest
from minara_site.web.keyset import Order, paginate
from minara_site.web.schemas import Data, Items, PageQuery, Strict, Written, WrittenHeld
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


@router.post(
    "/notes",
    summary="Write a note",
    auth=allow(Act.MEMORY_WRITE),
    response={201: Written, 202: WrittenHeld},
)
def create(request: PageRequest, payload: NewNote) -> Status[dict[str, Any]]:
    """Write a note; 202 says that the guard holds it."""
    principal = request.principal
    note = write_note(owner=principal.owner, text=payload.text, actor=principal.actor, now=timezone.now())
    answer = written_record(NOTE_KIND, note)
    return Status(202 if "held" in answer else 201, answer)


@router.get("/notes", summary="List notes", auth=allow(Act.MEMORY_READ), response=Data[Items[NoteOut]])
def list_(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List notes, newest first; a page is shorter by what the guard's newest rules refuse."""
    owner = request.principal.reads(Act.MEMORY_READ, query.owner)
    rows = Note.objects.for_owner(owner).filter(held_at__isnull=True)
    page = paginate(rows, Order("updated_at"), cursor=query.cursor, limit=query.limit, scope="v1/notes")
    return answer_page(request, page, kind="notes", find_refused=lambda notes: find_refused(NOTE_KIND, notes))
