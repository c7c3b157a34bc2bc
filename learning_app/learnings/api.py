"""`/v1/learnings`: read, store, edit the guidance, delete. Shapes: the contract."""

from functools import partial
from typing import Any

from django.utils import timezone
from ninja import Query, Status

from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.models import Learning
from learning_app.learnings.schemas import GuidanceIn, LearningDeleted, LearningHeldOut, LearningOut, NewLearning
from learning_app.learnings.selectors import list_learnings, records_of
from learning_app.learnings.services.change import edit_guidance, set_deleted
from learning_app.learnings.services.store import store_learning
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.guard.selectors import find_held, find_refused
from minara_site.shell.answers import answer_list
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order
from minara_site.web.schemas import Data, Items, OwnerQuery, PageQuery

router = ApiRouter(tags=["learnings"])


@router.get(
    "/learnings",
    "List learnings",
    Act.LEARNINGS_READ,
    Data[Items[LearningOut]],
)
def list_(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List learnings, newest first; a page is shorter by what the guard's newest rules refuse."""
    principal = request.principal
    owner = principal.reads(Act.LEARNINGS_READ, query.owner)
    rows = list_learnings(owner=owner).live()
    return answer_list(
        request,
        rows,
        Order("created_at"),
        query,
        scope="v1/learnings",
        kind="learnings",
        records=partial(records_of, reader=principal.owner),
        find_refused=partial(find_refused, LEARNING_KIND),
    )


@router.post(
    "/learnings",
    "Store a learning",
    Act.LEARNING_WRITE,
    {
        200: Data[LearningOut | LearningHeldOut],
        201: Data[LearningOut],
        202: Data[LearningHeldOut],
    },
)
def store(request: PageRequest, payload: NewLearning) -> Status[dict[str, Any]]:
    """Store a procedure that worked. 200 says that one with the same trigger counts once more; 202 that it is held."""
    principal = request.principal
    stored = store_learning(
        owner_id=principal.owner.pk,
        draft=payload.as_draft(),
        **done_by(request),
        origin="api",
    )
    return answer_of(request, stored.row, 201 if stored.is_new else 200)


@router.patch(
    "/learnings/{learning_uid}",
    "Edit the guidance of a learning",
    Act.LEARNING_WRITE,
    {200: Data[LearningOut], 202: Data[LearningHeldOut]},
)
def edit(
    request: PageRequest,
    learning_uid: str,
    payload: GuidanceIn,
    query: Query[OwnerQuery],
) -> Status[dict[str, Any]]:
    """Edit the guidance; 202 says that the guard holds the learning now."""
    principal = request.principal
    row = edit_guidance(
        principal=principal,
        owner=principal.owner,
        uid=learning_uid,
        guidance=payload.guidance,
        version=payload.version,
        now=timezone.now(),
    )
    return answer_of(request, row, 200)


@router.delete(
    "/learnings/{learning_uid}",
    "Delete a learning",
    Act.LEARNING_REMOVE,
    Data[LearningDeleted],
)
def delete(
    request: PageRequest,
    learning_uid: str,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Delete one: it is suggested no more, and can be restored on its page for 30 days."""
    principal = request.principal
    owner = principal.reads(Act.LEARNING_REMOVE, query.owner)
    set_deleted(
        principal=principal,
        owner=owner,
        uids=[learning_uid],
        is_deleted=True,
        now=timezone.now(),
    )
    return {"data": {"id": learning_uid, "deleted": True}}


def answer_of(
    request: PageRequest,
    row: Learning,
    status: int,
) -> Status[dict[str, Any]]:
    """Return a learning with this status, or 202 and why the guard holds it."""
    if held := find_held(LEARNING_KIND, row):
        return Status(202, {"data": {"id": row.uid, "held": held}})
    [record] = records_of([row], reader=request.principal.owner)
    return Status(status, {"data": record})
