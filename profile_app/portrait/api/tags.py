"""`/v1/profile/tags`: declare a tag and clear one. Shapes: the contract."""

from typing import Annotated, Any

from django.utils import timezone
from ninja import Status
from pydantic import Field

from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.ownership import owner_locked
from minara_site.shell.answers import was_proposed
from minara_site.shell.pages import PageRequest
from minara_site.web.schemas import Data, Deleted, Strict, WasProposed
from profile_app.portrait.api.profile import TagOut
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.proposals import propose_tag
from profile_app.portrait.selectors.tags import get_tag, tag_record
from profile_app.portrait.services.tags import clear_tag, set_tag

router = ApiRouter(tags=["profile"])

Word = Annotated[str, Field(max_length=40)]


class NewTag(Strict):
    """A value of the dimension exactly as it is spelled; of `markets` a list of different ones."""

    value: Word | Annotated[list[Word], Field(max_length=20)]


@router.put(
    "/profile/tags/{tag_name}",
    "Declare a tag",
    Act.PROFILE_WRITE,
    {200: Data[TagOut], 202: WasProposed},
)
def put(request: PageRequest, tag_name: str, payload: NewTag) -> Status[dict[str, Any]]:
    """Say what the user says of a dimension, such as `risk` or `FOMO Index`. No other spelling is taken.

    202: a person declared it, so a key's word is proposed to them and nothing was changed.
    """
    principal, now = request.principal, timezone.now()
    about: dict[str, Any] = {"name": tag_name, "value": payload.value, "now": now}
    with owner_locked(principal.owner.pk):
        if proposal := propose_tag(principal=principal, **about):
            return was_proposed(proposal)
        done = set_tag(owner=principal.owner, source=TagSource.USER, actor=principal.actor, **about)
    return Status(200, {"data": tag_record(get_tag(owner=principal.owner, name=done.name))})


@router.delete(
    "/profile/tags/{tag_name}",
    "Clear a tag",
    Act.PROFILE_WRITE,
    {200: Deleted, 202: WasProposed},
)
def delete(request: PageRequest, tag_name: str) -> Status[dict[str, Any]]:
    """Clear what counts of a dimension; what was learned or inferred before a declaration counts again.

    202: a key only proposes that of what a person declared.
    """
    principal, now = request.principal, timezone.now()
    with owner_locked(principal.owner.pk):
        if proposal := propose_tag(principal=principal, name=tag_name, value=None, now=now):
            return was_proposed(proposal)
        clear_tag(owner=principal.owner, name=tag_name, actor=principal.actor, now=now)
    return Status(200, {})
