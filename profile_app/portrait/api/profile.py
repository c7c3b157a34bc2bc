"""`/v1/profile`: the portrait, and what its owner's agents may change of it. Shapes: the contract."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.utils import timezone
from ninja import Query, Schema, Status
from pydantic import Field, StrictBool

from memory_app.memories.api import ConflictOut
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.guard.selectors import hold_record
from minara_site.kernel.ownership import owner_locked
from minara_site.shell.answers import was_proposed
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.schemas import Data, Deleted, HeldOut, OwnerQuery, Strict, WasProposed
from profile_app.documents.core import CUSTOM_PROMPT, Origin
from profile_app.documents.proposals import propose_empty
from profile_app.documents.services import SavedDocument
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.core.wallets import Wallet
from profile_app.portrait.proposals import propose_switches, propose_wallets
from profile_app.portrait.selectors.profile import profile_record, settings_record, wallet_records
from profile_app.portrait.services.profile import (
    change_settings,
    open_profile,
    request_refresh,
    save_custom_prompt,
    set_reference_wallets,
)

router = ApiRouter(tags=["profile"])


class SummaryOut(Schema):
    """What is known of the owner's trades, each text empty while nothing is."""

    platform_wallet_summary: str
    reference_wallets_summary: str


class PortraitMemoryOut(Schema):
    """A personalization memory; `subcategory` is its fact_type."""

    id: int
    statement: str
    subcategory: str | None
    created_at: datetime
    conflict: ConflictOut | None = None


class TagOut(Schema):
    """The value of one dimension; `markets` has a list."""

    name: str
    value: str | list[str]
    source: TagSource
    updated_at: datetime


class ProfileSettingsOut(Schema):
    """What the prompt carries."""

    include_memories: bool
    include_trading_summary: bool
    include_tags: bool


class WalletOut(Schema):
    """A wallet that the owner follows."""

    address: str
    label: str | None


class PortraitOut(Schema):
    """The portrait: the newest 20 personalization memories, the tags in force, and the owner's own words."""

    trading_summary: SummaryOut
    memories: list[PortraitMemoryOut]
    tags: list[TagOut]
    custom_prompt: str
    settings: ProfileSettingsOut
    reference_wallets: list[WalletOut]


class NewProfileSettings(Strict):
    """Any of the three."""

    include_memories: StrictBool = True
    include_trading_summary: StrictBool = True
    include_tags: StrictBool = True


class NewCustomPrompt(Strict):
    """The owner's own instructions, up to 4 000 characters; an empty text removes them."""

    custom_prompt: str


class CustomPromptOut(Schema):
    """The custom prompt in force and its version."""

    custom_prompt: str
    version: int
    updated_at: datetime


class CustomPromptHeld(Schema):
    """The text waits for its owner; `data` is the one in force meanwhile."""

    ok: Literal[True] = True
    data: CustomPromptOut
    held: HeldOut


class WalletIn(Strict):
    """An EVM or Solana address, and what its owner calls it: one line of up to 60 characters."""

    address: Annotated[str, Field(max_length=200)]
    label: str | None = None


class NewWallets(Strict):
    """All wallets that the owner follows, at most 10, in their order."""

    wallets: Annotated[list[WalletIn], Field(max_length=100)]


class WalletsOut(Schema):
    """The wallets as they are stored, EVM addresses with their checksum."""

    reference_wallets: list[WalletOut]


class RefreshRun(Schema):
    """The run of the job."""

    run_id: int


@router.get("/profile", "Read the portrait", Act.PROFILE_READ, Data[PortraitOut])
def read(request: PageRequest, query: Query[OwnerQuery]) -> dict[str, Any]:
    """Read who the owner is, as prompts may say it; texts that wait for a decision are left out."""
    owner = open_profile(
        principal=request.principal,
        owner_name=query.owner,
        now=timezone.now(),
        kind="profile",
    )
    return {"data": profile_record(owner, reader=request.principal.owner)}


@router.put(
    "/profile/settings",
    "Choose what prompts carry",
    Act.PROFILE_WRITE,
    {200: Data[ProfileSettingsOut], 202: WasProposed},
)
def put_settings(request: PageRequest, payload: NewProfileSettings) -> Status[dict[str, Any]]:
    """Switch memories, trading summary or tags on or off, from the next session on.

    202: a person set one of them, so a key's word is proposed to them and nothing was changed.
    """
    principal, settings, now = request.principal, payload.dict(exclude_unset=True), timezone.now()
    with owner_locked(principal.owner.pk):
        if proposal := propose_switches(principal=principal, settings=settings, now=now):
            return was_proposed(proposal)
        profile = change_settings(owner=principal.owner, settings=settings, actor=principal.actor, now=now)
    return Status(200, {"data": settings_record(profile)})


@router.put(
    "/profile/prompt",
    "Set the custom prompt",
    Act.PROFILE_WRITE,
    {200: Data[CustomPromptOut], 202: CustomPromptHeld | WasProposed},
)
def put_prompt(request: PageRequest, payload: NewCustomPrompt) -> Status[dict[str, Any]]:
    """Set the owner's own instructions; 202 says that the text waits for its owner, as a key's always does."""
    if not payload.custom_prompt.strip() and (
        proposal := propose_empty(
            principal=request.principal, kind=CUSTOM_PROMPT, name=CUSTOM_PROMPT, now=timezone.now()
        )
    ):
        return was_proposed(proposal)
    saved = write_prompt(request, payload.custom_prompt)
    answer: dict[str, Any] = {"data": prompt_record(saved)}
    return Status(202, {**answer, "held": hold_record(saved.hold)}) if saved.hold else Status(200, answer)


@router.delete(
    "/profile/prompt",
    "Remove the custom prompt",
    Act.PROFILE_WRITE,
    {200: Deleted, 202: WasProposed},
)
def delete_prompt(request: PageRequest) -> Status[dict[str, Any]]:
    """Remove the owner's own instructions; the versions stay, and a text that waits goes on waiting.

    202: a key only proposes that.
    """
    if proposal := propose_empty(
        principal=request.principal, kind=CUSTOM_PROMPT, name=CUSTOM_PROMPT, now=timezone.now()
    ):
        return was_proposed(proposal)
    write_prompt(request, "")
    return Status(200, {})


@router.put(
    "/profile/reference-wallets",
    "Set the reference wallets",
    Act.PROFILE_WRITE,
    {200: Data[WalletsOut], 202: WasProposed},
)
def put_wallets(request: PageRequest, payload: NewWallets) -> Status[dict[str, Any]]:
    """Replace the wallets that the owner follows; one wrong address changes nothing. 202: a key only proposes that."""
    principal, now = request.principal, timezone.now()
    wallets = [Wallet(each.address, each.label or "") for each in payload.wallets]
    with owner_locked(principal.owner.pk):
        if proposal := propose_wallets(principal=principal, wallets=wallets, now=now):
            return was_proposed(proposal)
        stored = set_reference_wallets(owner=principal.owner, wallets=wallets, actor=principal.actor, now=now)
    return Status(200, {"data": {"reference_wallets": wallet_records(stored)}})


@router.post(
    "/profile/refresh",
    "Refresh the portrait",
    Act.PROFILE_WRITE,
    {202: Data[RefreshRun]},
)
def refresh(request: PageRequest) -> Status[dict[str, Any]]:
    """Ask for a refresh, once a minute; more is 429."""
    principal = request.principal
    run = request_refresh(
        owner=principal.owner,
        **done_by(request),
    )
    return Status(202, {"data": {"run_id": run.pk}})


def write_prompt(request: PageRequest, content: str) -> SavedDocument:
    """Write the custom prompt of who asks."""
    principal = request.principal
    origin = Origin.KEY if principal.is_key else Origin.PAGE
    return save_custom_prompt(
        owner=principal.owner,
        content=content,
        origin=origin,
        **done_by(request),
    )


def prompt_record(saved: SavedDocument) -> dict[str, Any]:
    """Return the custom prompt in force as the API answers it."""
    document = saved.document
    return {
        "custom_prompt": document.content,
        "version": document.version,
        "updated_at": document.updated_at,
    }
