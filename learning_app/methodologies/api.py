"""`/v1/methodologies`: read and create analysis methods; operators quarantine and release. Shapes: the contract."""

from typing import Any

from ninja import Body, Query, Status

from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.schemas import CreatedHeldOut, MethodologyOut, MethodologyQuery, NewMethodology, Reason
from learning_app.methodologies.selectors import get_readable, list_readable, methodology_record, records_of
from learning_app.methodologies.services.create import create_methodology
from learning_app.methodologies.services.decide import quarantine, release
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.guard.selectors import find_held, find_refused
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order, paginate
from minara_site.web.schemas import Data, Items, OwnerQuery

router = ApiRouter(tags=["methodologies"])


@router.get(
    "/methodologies",
    "List methodologies",
    Act.METHODOLOGIES_READ,
    Data[Items[MethodologyOut]],
)
def list_(request: PageRequest, query: Query[MethodologyQuery]) -> dict[str, Any]:
    """List methodologies, newest first; a page is shorter by what the guard's newest rules refuse."""
    wanted = {
        "asset_class": query.asset_class,
        "direction": query.direction,
        "quarantine": query.quarantine,
    }
    rows = list_readable().filter(**{name: value for name, value in wanted.items() if value is not None})
    order = Order("created_at")
    page = paginate(
        rows,
        order,
        cursor=query.cursor,
        limit=query.limit,
        scope="v1/methodologies",
    )
    refused = find_refused(METHODOLOGY_KIND, page.items)
    items = records_of([row for row in page.items if row.pk not in refused])
    return {"data": {"items": items, "next_cursor": page.next_cursor}}


@router.get(
    "/methodologies/{uid}",
    "Read a methodology",
    Act.METHODOLOGIES_READ,
    Data[MethodologyOut],
)
def read(request: PageRequest, uid: str, query: Query[OwnerQuery]) -> dict[str, Any]:
    """Read one methodology; one that the guard holds is not there."""
    return {"data": methodology_record(get_readable(uid))}


@router.post(
    "/methodologies",
    "Create a methodology",
    Act.METHODOLOGY_WRITE,
    {
        200: Data[MethodologyOut | CreatedHeldOut],
        201: Data[MethodologyOut],
        202: Data[CreatedHeldOut],
    },
)
def create(request: PageRequest, payload: NewMethodology) -> Status[dict[str, Any]]:
    """Create one in quarantine. 200 says that an equal one is there; 202 that the guard holds it.

    Of one that the guard refuses the answer has the id alone, and why it is held.
    """
    created = create_methodology(draft=payload.as_draft(), **done_by(request))
    if created.row.held_at or find_refused(METHODOLOGY_KIND, [created.row]):
        held = find_held(METHODOLOGY_KIND, created.row)
        return Status(
            202 if created.is_new else 200,
            {"data": {"id": created.row.uid, "held": held}},
        )
    return Status(201 if created.is_new else 200, {"data": methodology_record(created.row)})


@router.post(
    "/methodologies/{uid}/quarantine",
    "Quarantine a methodology",
    Act.METHODOLOGY_DECIDE,
    Data[MethodologyOut],
)
def put_into_quarantine(
    request: PageRequest,
    uid: str,
    payload: Body[Reason | None] = None,
) -> dict[str, Any]:
    """Take one out of prompts until an operator releases it."""
    reason = payload.reason if payload else ""
    decided = quarantine(
        uid=uid,
        reason=reason,
        **done_by(request),
    )
    return {"data": methodology_record(decided)}


@router.post(
    "/methodologies/{uid}/release",
    "Release a methodology",
    Act.METHODOLOGY_DECIDE,
    Data[MethodologyOut],
)
def release_from_quarantine(
    request: PageRequest,
    uid: str,
    payload: Body[Reason | None] = None,
) -> dict[str, Any]:
    """Let one into prompts again; below the graduation bar that is 409."""
    reason = payload.reason if payload else ""
    decided = release(
        uid=uid,
        reason=reason,
        **done_by(request),
    )
    return {"data": methodology_record(decided)}
