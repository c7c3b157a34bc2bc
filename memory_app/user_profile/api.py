"""`/v1/user-profile`: S1's key/value table. Shapes: the contract."""

from datetime import datetime
from typing import Any, Literal

from ninja import Query, Schema, Status

from memory_app.user_profile.selectors import find_refused, list_entries
from memory_app.user_profile.services import remove_entry, set_entry
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.guard.selectors import hold_record
from minara_site.shell.answers import answer_list
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order
from minara_site.web.schemas import Data, Deleted, HeldOut, Items, PageQuery, Strict

router = ApiRouter(tags=["user profile"])


class EntryOut(Schema):
    """One stable fact."""

    key: str
    value: str
    updated_at: datetime


class NewValue(Strict):
    """The value of a key: one line of 1 to 1 000 characters."""

    value: str


class EntryHeld(Schema):
    """The value waits for an operator; `data` is the entry that stands meanwhile, null when there is none."""

    ok: Literal[True] = True
    data: EntryOut | None
    held: HeldOut


@router.get(
    "/user-profile",
    "List the user profile",
    Act.USER_PROFILE_READ,
    Data[Items[EntryOut]],
)
def list_(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List the entries by key; a page is shorter by what the guard's newest rules refuse."""
    owner = request.principal.reads(Act.USER_PROFILE_READ, query.owner)
    by_key = Order("key", descending=False)
    return answer_list(
        request,
        list_entries(owner=owner),
        by_key,
        query,
        scope="v1/user-profile",
        kind="user_profile",
        find_refused=find_refused,
    )


@router.put(
    "/user-profile/{key}",
    "Set a value of the user profile",
    Act.USER_PROFILE_WRITE,
    {200: Data[EntryOut], 201: Data[EntryOut], 202: EntryHeld},
)
def put(request: PageRequest, key: str, payload: NewValue) -> Status[dict[str, Any]]:
    """Set the value of a key: 201 when the key is new, else 200; 202 says that the guard holds the value."""
    principal = request.principal
    done = set_entry(
        owner=principal.owner,
        key=key,
        value=payload.value,
        only_of_keys=principal.is_key,
        **done_by(request),
    )
    if done.hold:
        return Status(
            202,
            {
                "data": done.entry if done.entry.value else None,
                "held": hold_record(done.hold),
            },
        )
    return Status(201 if done.is_new else 200, {"data": done.entry})


@router.delete(
    "/user-profile/{key}",
    "Remove a value of the user profile",
    Act.USER_PROFILE_WRITE,
    Deleted,
)
def delete(request: PageRequest, key: str) -> dict[str, Any]:
    """Remove a key for good."""
    principal = request.principal
    owner, is_key = principal.owner, principal.is_key
    remove_entry(
        owner=owner,
        key=key,
        only_of_keys=is_key,
        **done_by(request),
    )
    return {}
