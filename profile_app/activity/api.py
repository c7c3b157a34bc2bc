"""`/v1/profile/accounts`: own wallets and sub-accounts. Shapes: the contract."""

from datetime import datetime
from typing import Annotated, Any

from django.utils import timezone
from ninja import Query, Schema, Status
from pydantic import Field

from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.guard.masking import masked_for
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.schemas import Data, Deleted, Items, OwnerQuery, Strict
from profile_app.activity.core.accounts import AccountSource, Reader
from profile_app.activity.selectors import account_records, list_accounts
from profile_app.activity.services.accounts import add_account, remove_account
from profile_app.portrait.services.profile import open_profile

router = ApiRouter(tags=["profile"])

AccountId = Annotated[int, Field(ge=1, le=2**63 - 1)]


class NewAccount(Strict):
    """A wallet that the user trades with: an EVM or Solana address, and what they call it."""

    source: AccountSource
    address: Annotated[str, Field(max_length=200)]
    label: Annotated[str | None, Field(max_length=200)] = None


class AccountOut(Schema):
    """An own account. `reader` is what reads it, null for nothing; `synced_at` when that last answered."""

    id: int
    source: AccountSource
    address: str
    label: str | None
    reader: Reader | None
    synced_at: datetime | None


@router.get("/profile/accounts", "List own accounts", Act.PROFILE_READ, Data[Items[AccountOut]])
def list_(request: PageRequest, query: Query[OwnerQuery]) -> dict[str, Any]:
    """List the accounts whose trades are mirrored, the oldest first; they fit on one page."""
    principal = request.principal
    owner = open_profile(principal=principal, owner_name=query.owner, now=timezone.now(), kind="accounts")
    rows = [masked_for(principal.owner, row) for row in list_accounts(owner=owner).order_by("pk")]
    return {"data": {"items": account_records(rows, owner), "next_cursor": None}}


@router.post(
    "/profile/accounts",
    "Add an own account",
    Act.PROFILE_WRITE,
    {200: Data[AccountOut], 201: Data[AccountOut]},
)
def add(request: PageRequest, payload: NewAccount) -> Status[dict[str, Any]]:
    """Add a wallet of the user; it is read from now on. 200: it stands already, whatever its spelling."""
    owner = request.principal.owner
    row, is_new = add_account(
        owner=owner,
        source=payload.source,
        address=payload.address,
        label=payload.label or "",
        **done_by(request),
    )
    [record] = account_records([row], owner)
    return Status(201 if is_new else 200, {"data": record})


@router.delete("/profile/accounts/{int:account_id}", "Remove an own account", Act.PROFILE_WRITE, Deleted)
def remove(request: PageRequest, account_id: AccountId) -> dict[str, Any]:
    """Take an account out of every figure; its owner can restore it on the page for 30 days."""
    remove_account(owner=request.principal.owner, account_id=account_id, **done_by(request))
    return {}
