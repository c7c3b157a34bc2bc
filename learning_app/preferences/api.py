"""`/v1/preferences`: propose preferences, read them and decide on soft ones. Shapes: the contract.

No call activates or archives a hard constraint: that is 403 for keys and for browser sessions.
"""

from collections.abc import Callable
from typing import Annotated, Any

from django.utils import timezone
from ninja import Body, Query, Status
from pydantic import Field

from learning_app.preferences.core import PREFERENCE_KIND
from learning_app.preferences.models import Preference
from learning_app.preferences.schemas import (
    Approval,
    DecisionReason,
    NewPreference,
    PreferenceHeldOut,
    PreferenceOut,
    PreferenceQuery,
)
from learning_app.preferences.selectors import is_refused, list_preferences, preference_record
from learning_app.preferences.services.decide import approve, archive, reject
from learning_app.preferences.services.propose import propose_preference
from learning_app.vocabulary import PreferenceSource
from minara_site.access.access_log import log_opened
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import find_held, find_refused
from minara_site.shell.answers import answer_list
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order
from minara_site.web.schemas import Data, Items, OwnerQuery

router = ApiRouter(tags=["preferences"])

NEWEST = Order("created_at")
PreferenceId = Annotated[int, Field(ge=1, le=2**63 - 1)]


@router.get(
    "/preferences",
    "List preferences",
    Act.PREFERENCES_READ,
    Data[Items[PreferenceOut]],
)
def list_(request: PageRequest, query: Query[PreferenceQuery]) -> dict[str, Any]:
    """List preferences, newest first; a page is shorter by what the guard's newest rules refuse."""
    owner = request.principal.reads(Act.PREFERENCES_READ, query.owner)
    wanted = {"state": query.state, "dimension": query.dimension, "kind": query.kind}
    rows = list_preferences(owner=owner).filter(**{name: value for name, value in wanted.items() if value})
    return answer_list(
        request,
        rows,
        NEWEST,
        query,
        scope="v1/preferences",
        kind="preferences",
        records=lambda rows: [preference_record(row) for row in rows],
        find_refused=lambda rows: find_refused(PREFERENCE_KIND, rows),
    )


@router.post(
    "/preferences",
    "Propose a preference",
    Act.PREFERENCE_PROPOSE,
    {
        200: Data[PreferenceOut | PreferenceHeldOut],
        201: Data[PreferenceOut],
        202: Data[PreferenceHeldOut],
    },
)
def propose(request: PageRequest, payload: NewPreference) -> Status[dict[str, Any]]:
    """Propose one; a person approves it. 200 says that nearly the same one is there, 202 that the guard holds it."""
    principal = request.principal
    proposed = propose_preference(
        owner_id=principal.owner.pk,
        draft=payload.as_draft(),
        source=PreferenceSource.AGENT if principal.is_key else PreferenceSource.USER,
        **done_by(request),
    )
    if is_refused(proposed.row):
        held = find_held(PREFERENCE_KIND, proposed.row)
        return Status(
            202 if proposed.is_new else 200,
            {"data": {"id": proposed.row.pk, "held": held}},
        )
    return Status(201 if proposed.is_new else 200, {"data": preference_record(proposed.row)})


@router.post(
    "/preferences/{int:preference_id}/approve",
    "Approve a soft preference",
    Act.PREFERENCE_DECIDE,
    Data[PreferenceOut],
)
def approve_one(
    request: PageRequest,
    preference_id: PreferenceId,
    query: Query[OwnerQuery],
    payload: Body[Approval | None] = None,
) -> dict[str, Any]:
    """Put one in force, in other words where they are given. A hard constraint is 403: its owner activates it."""
    return decide_on(request, query, approve, preference_id, payload)


@router.post(
    "/preferences/{int:preference_id}/reject",
    "Reject a proposed preference",
    Act.PREFERENCE_DECIDE,
    Data[PreferenceOut],
)
def reject_one(
    request: PageRequest,
    preference_id: PreferenceId,
    query: Query[OwnerQuery],
    payload: Body[DecisionReason | None] = None,
) -> dict[str, Any]:
    """Reject a proposal; agents cannot reopen it."""
    return decide_on(request, query, reject, preference_id, payload)


@router.post(
    "/preferences/{int:preference_id}/archive",
    "Archive an active soft preference",
    Act.PREFERENCE_DECIDE,
    Data[PreferenceOut],
)
def archive_one(
    request: PageRequest,
    preference_id: PreferenceId,
    query: Query[OwnerQuery],
    payload: Body[DecisionReason | None] = None,
) -> dict[str, Any]:
    """End an active one and keep its row. A hard constraint is 403: its owner ends it."""
    return decide_on(request, query, archive, preference_id, payload)


def decide_on(
    request: PageRequest,
    query: OwnerQuery,
    act: Callable[..., Preference],
    preference_id: int,
    payload: Approval | DecisionReason | None,
) -> dict[str, Any]:
    """Decide, and answer the preference as its reader may see it; a held one is there without its words."""
    principal, now = request.principal, timezone.now()
    row = act(
        preference_id=preference_id,
        owner=principal.reads(Act.PREFERENCE_DECIDE, query.owner),
        actor=principal.actor,
        now=now,
        **(payload.dict() if payload else {}),
    )
    log_opened(
        principal,
        row.owner_id,
        kind="preference",
        object_id=row.pk,
        now=now,
    )
    record = preference_record(masked_for(principal.owner, row))
    return {"data": {**record, "statement": ""} if is_refused(row) else record}
