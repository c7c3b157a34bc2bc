"""`POST /v1/roles/{id}/reflect`: ask for the reflection of what is due of a role. Shapes: the contract."""

from typing import Any

from ninja import Query, Status

from memory_app.roles.services.requests import request_reflection
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.ownership import EVERYONE
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.schemas import Data, OwnerQuery, RunOut

router = ApiRouter(tags=["roles"])


@router.post(
    "/roles/{role_id}/reflect",
    "Reflect on what is due of a role",
    Act.ROLES_REFLECT,
    {202: Data[RunOut]},
)
def reflect(
    request: PageRequest,
    role_id: str,
    query: Query[OwnerQuery],
) -> Status[dict[str, Any]]:
    """Ask for a sweep over the caller's own decisions; operators name another owner, or `all`.

    Counts as an act that calls models. A sweep that is under way already makes this one drop, which its run tells.
    """
    owner = request.principal.reads(Act.ROLES_REFLECT, query.owner)
    run = request_reflection(
        role_id=role_id,
        owner_id=None if owner is EVERYONE else owner.pk,
        **done_by(request),
    )
    return Status(202, {"data": {"run_id": run.pk}})
