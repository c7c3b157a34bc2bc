"""`/v1/workspace`: the files that steer an agent, and what its keys may write of them. Shapes: the contract."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router, Schema, Status

from minara_site.access.api_auth import allow
from minara_site.access.policy import Act
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.selectors import hold_record
from minara_site.shell.answers import was_proposed
from minara_site.shell.if_match import expected_version
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order, paginate
from minara_site.web.schemas import Data, HeldOut, OwnerQuery, PageQuery, Strict, WasProposed
from profile_app.documents.core import WORKSPACE_FILE, Origin
from profile_app.documents.models import Document
from profile_app.documents.proposals import propose_empty
from profile_app.documents.selectors import document_record, find_document, find_hold, read_record
from profile_app.workspace.core.names import IDENTITY_FILES, OWN_WORDS, Placement, placement_of
from profile_app.workspace.problems import unknown_name_label
from profile_app.workspace.selectors import list_present, load_problems
from profile_app.workspace.services.files import open_files, write_file

router = Router(tags=["workspace"])
BY_NAME = Order("name", descending=False)


class FileRow(Schema):
    """A file that is there. `waits` says that another text of it waits for its owner."""

    name: str
    placement: Placement
    version: int
    chars: int
    tokens: int
    updated_at: datetime
    waits: bool


class ProblemOut(Schema):
    """What is wrong with a file of the folder, or with the folder where `name` is empty."""

    name: str
    code: str
    detail: str


class FileList(Schema):
    """A page of the list, and what was wrong at the last reading of the folder."""

    items: list[FileRow]
    next_cursor: str | None
    problems: list[ProblemOut]


class FileOut(Schema):
    """The text in force; `version` is the ETag of the next edit."""

    name: str
    content: str
    version: int
    updated_at: datetime
    held: HeldOut | None = None


class NewText(Strict):
    """The whole text of a file, up to 32 000 characters; an empty one removes it."""

    content: str


class FileHeld(Schema):
    """The text waits for its owner; `data` is the one in force meanwhile."""

    ok: Literal[True] = True
    data: FileOut
    held: HeldOut


@router.get(
    "/workspace",
    summary="List agent files",
    auth=allow(Act.WORKSPACE_READ),
    response=Data[FileList],
)
def list_(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List the files by name, daily notes too."""
    owner = open_files(
        principal=request.principal,
        owner_name=query.owner,
        now=timezone.now(),
    )
    page = paginate(
        list_present(owner),
        BY_NAME,
        cursor=query.cursor,
        limit=query.limit,
        scope="v1/workspace",
    )
    return {
        "data": {
            "items": [row_record(row) for row in page.items],
            "next_cursor": page.next_cursor,
            "problems": load_problems(owner),
        }
    }


@router.get(
    "/workspace/{path:file_name}",
    summary="Read an agent file",
    auth=allow(Act.WORKSPACE_READ),
    response=Data[FileOut],
    exclude_none=True,
)
def read(
    request: PageRequest,
    response: HttpResponse,
    file_name: str,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Read one file; `held` is there while another text of it waits for its owner."""
    name = file_name if placement_of(file_name) else ""
    owner = open_files(
        principal=request.principal,
        owner_name=query.owner,
        name=name,
        now=timezone.now(),
    )
    document = find_document(owner=owner, kind=WORKSPACE_FILE, name=name) if name else None
    if document is None or not (document.version or document.held_at):
        raise NotFound(unknown_name_label())
    response["ETag"] = f'"{document.version}"'
    hold = find_hold(document)
    record = read_record(document, reader=request.principal.owner)
    return {"data": {**record, "held": hold_record(hold) if hold else None}}


@router.put(
    "/workspace/{path:file_name}",
    summary="Write an agent file",
    auth=allow(Act.WORKSPACE_WRITE),
    response={200: Data[FileOut], 202: FileHeld | WasProposed},
    exclude_none=True,
)
def put(
    request: PageRequest,
    response: HttpResponse,
    file_name: str,
    payload: NewText,
) -> Status[dict[str, Any]]:
    """Replace the text of a file; 202 says that it waits for its owner, as the owner's own words always do.

    With `If-Match` a stale version is 409 and changes nothing. The section ## Schedule of HEARTBEAT.md is kept.
    """
    principal = request.principal
    if not principal.is_key and file_name in IDENTITY_FILES:
        principal.require(Act.IDENTITY_WRITE)
    if file_name in OWN_WORDS and not payload.content.strip():
        about: dict[str, Any] = {"kind": WORKSPACE_FILE, "name": file_name, "now": timezone.now()}
        if proposal := propose_empty(principal=principal, expected_version=expected_version(request), **about):
            return was_proposed(proposal)
    saved = write_file(
        owner=principal.owner,
        name=file_name,
        content=payload.content,
        origin=Origin.KEY if principal.is_key else Origin.PAGE,
        **done_by(request),
        expected_version=expected_version(request),
    )
    response["ETag"] = f'"{saved.document.version}"'
    answer: dict[str, Any] = {"data": read_record(saved.document, reader=principal.owner)}
    return Status(202, {**answer, "held": hold_record(saved.hold)}) if saved.hold else Status(200, answer)


def row_record(document: Document) -> dict[str, Any]:
    """Return a file as the list answers it."""
    return {
        **document_record(document, is_full=False),
        "placement": placement_of(document.name),
        "chars": len(document.content),
        "tokens": estimate_tokens(document.content),
        "waits": document.held_at is not None,
    }
