"""Writes of the financial profile: settings, reference wallets, custom prompt, refresh. Source: S3 (financial_profile).

The custom prompt and the summaries are documents: they keep the versions, and what waits; the row has what is in force.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from math import ceil

from django.db import transaction
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.access_log import log_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.core.vocabulary import is_named_key
from minara_site.kernel.errors import Conflict, FieldError, Invalid, NotFound, Throttled, invalid_field
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.labels import SENTENCES
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import request_run
from minara_site.kernel.ownership import lock_owner, owner_locked
from minara_site.kernel.plain_text import storable_problem
from profile_app.documents.core import CUSTOM_PROMPT, PROFILE_SUMMARY, Origin
from profile_app.documents.models import Document
from profile_app.documents.services import SavedDocument, save_document, save_draft
from profile_app.portrait.core.profile import REFRESH, SETTINGS, SUMMARIES, refresh_wait
from profile_app.portrait.core.wallets import (
    MAX_LABEL_CHARS,
    MAX_WALLETS,
    AddressProblem,
    Wallet,
    check_address,
    dump_wallets,
    parse_wallets,
)
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.profile import find_last_refresh, find_prompt

ADDRESS_PROBLEMS = {
    AddressProblem.UNKNOWN: gettext_lazy("Give an EVM address (0x and 40 hex digits) or a Solana address."),
    AddressProblem.CHECKSUM: gettext_lazy(
        "The checksum does not match: a character is wrong. Copy the address again, or write it in lower case."
    ),
}


def open_profile(
    *,
    principal: Principal,
    owner_name: str | None,
    now: datetime,
    kind: str,
) -> User:
    """Return whose profile is read, and log the reading of another owner's, by what is read. Raises NotFound."""
    owner = principal.reads(Act.PROFILE_READ, owner_name)
    if not isinstance(owner, User):
        raise NotFound(_("Name one owner: a profile belongs to one person."))
    log_access(
        principal=principal,
        owner_ids=[owner.pk],
        kind=kind,
        now=now,
    )
    return owner


def lock_profile(owner: User, now: datetime) -> FinancialProfile:
    """Return the owner's row, made where there is none, under the owner's lock. Needs a transaction."""
    lock_owner(owner.pk)
    return get_locked(owner.pk, now)


def get_locked(owner_id: int, now: datetime) -> FinancialProfile:
    """Return the row of an owner who is locked, made where there is none."""
    moments = {"created_at": now, "updated_at": now}
    return FinancialProfile.objects.get_or_create(owner_id=owner_id, defaults=moments)[0]


def change_settings(
    *,
    owner: User,
    settings: Mapping[str, bool],
    actor: str,
    now: datetime,
) -> FinancialProfile:
    """Switch parts of the prompt on or off, by the names in `SETTINGS`; what is so already changes nothing."""
    with transaction.atomic():
        profile = lock_profile(owner, now)
        flags = {name: int(settings[name]) for name in SETTINGS if name in settings}
        changed = {name: flag for name, flag in flags.items() if getattr(profile, name) != flag}
        if not changed:
            return profile
        for name, flag in changed.items():
            setattr(profile, name, flag)
        profile.updated_at = now
        profile.save(update_fields=[*changed, "updated_at"])
        record_audit(
            now=now,
            actor=actor,
            tool_call="profile_settings_changed",
            owner_id=owner.pk,
            details=changed,
        )
    return profile


def set_reference_wallets(
    *,
    owner: User,
    wallets: Iterable[Wallet],
    actor: str,
    now: datetime,
    expected: Sequence[Wallet] | None = None,
) -> tuple[Wallet, ...]:
    """Replace the wallets that a user follows, in their order, and return them as stored; the same change nothing.

    A label that is stored so is not judged again. Raises Invalid, which names each wrong one by its place, and Conflict
    (`stale`) unless they are `expected` now.
    """
    with transaction.atomic():
        profile = lock_profile(owner, now)
        stored = parse_wallets(profile.reference_wallets_json)
        checked = clean_wallets(list(wallets), stored)
        if expected is not None and tuple(expected) != stored:
            raise Conflict(_("This changed since you opened it. Reload the page."), code="stale")
        if checked == stored:
            return stored
        profile.reference_wallets_json, profile.updated_at = dump_wallets(checked), now
        profile.save(update_fields=["reference_wallets_json", "updated_at"])
        details = {
            "wallets": len(checked),
            "sha256": content_digest(profile.reference_wallets_json),
        }
        record_audit(
            now=now,
            actor=actor,
            tool_call="reference_wallets_changed",
            owner_id=owner.pk,
            details=details,
        )
    return checked


def clean_wallets(wallets: Sequence[Wallet], stored: Collection[Wallet]) -> tuple[Wallet, ...]:
    """Return wallets as they are stored. Raises Invalid."""
    if len(wallets) > MAX_WALLETS:
        problem = _("Follow at most %(max)d wallets.") % {"max": MAX_WALLETS}
        raise invalid_field("wallets", problem)
    checked, problems = list[Wallet](), list[tuple[int, FieldError]]()
    for place, wallet in enumerate(wallets):
        address, label = check_address(wallet.address.strip()), wallet.label.strip()
        problem = address_problem(address, {each.address for each in checked})
        if problem:
            problems.append((place, FieldError(f"wallets.{place}.address", problem)))
        elif isinstance(address, str):
            checked.append(Wallet(address, label))
        if problem := "" if Wallet(str(address), label) in stored else label_problem(label):
            problems.append((place, FieldError(f"wallets.{place}.label", problem)))
    if problems:
        named = (_("Wallet %(number)d: %(problem)s") % {"number": n + 1, "problem": e.message} for n, e in problems)
        raise Invalid(" ".join(named), errors=tuple(error for _place, error in problems))
    return tuple(checked)


def address_problem(address: str | AddressProblem, known: set[str]) -> str:
    """Return why an address is refused, empty when it is accepted."""
    if isinstance(address, AddressProblem):
        return str(ADDRESS_PROBLEMS[address])
    return _("This wallet is in the list already.") if address in known else ""


def label_problem(label: str) -> str:
    """Return why a label is refused, empty when it is accepted."""
    if len(label) > MAX_LABEL_CHARS:
        return _("Shorten it to %(max)d characters; it has %(now)d.") % {"max": MAX_LABEL_CHARS, "now": len(label)}
    if len(label.splitlines()) > 1:
        return _("Write it on one line.")
    if problem := storable_problem(label):
        return problem
    findings = guard.judge(label).findings
    if findings:
        return _("The guard refuses this label: %(why)s") % {"why": SENTENCES[findings[0].reason]}
    return ""


def save_custom_prompt(
    *,
    owner: User,
    content: str,
    origin: Origin,
    actor: str,
    now: datetime,
    expected_version: int | None = None,
    is_confirmed: bool = False,
) -> SavedDocument:
    """Put the user's own instructions in force, or hold them, as `save_document` says; blanks alone remove them.

    What a named key writes always waits. Raises Invalid, and Conflict for another version.
    """
    content = content if content.strip() else ""
    with owner_locked(owner.pk):
        stored = find_prompt(owner)
        if not content and (stored is None or not stored.version):
            nothing = stored or Document(owner=owner, kind=CUSTOM_PROMPT, name=CUSTOM_PROMPT, updated_at=now)
            if stored and origin is Origin.PAGE:
                stored.draft, stored.draft_at = "", None
                stored.save(update_fields=["draft", "draft_at"])
            return SavedDocument(nothing, is_changed=False)
        try:
            saved = save_document(
                owner=owner,
                kind=CUSTOM_PROMPT,
                name=CUSTOM_PROMPT,
                content=content,
                origin=origin,
                actor=actor,
                now=now,
                expected_version=expected_version,
                is_confirmed=is_confirmed,
                must_wait=is_named_key(actor),
            )
        except Invalid as refusal:
            raise invalid_field(CUSTOM_PROMPT, refusal.detail) from None
    return saved


def save_custom_prompt_draft(
    *,
    owner: User,
    draft: str,
    version: int,
    now: datetime,
) -> Document:
    """Keep what its owner is writing; no prompt carries it. Raises Invalid."""
    return save_draft(
        owner=owner,
        kind=CUSTOM_PROMPT,
        name=CUSTOM_PROMPT,
        draft=draft,
        version=version,
        now=now,
    )


def copy_texts_in_force(documents: Sequence[Document], *, now: datetime) -> None:
    """Copy the custom prompt and the summaries into the row; documents call it whenever another text is in force."""
    for document in documents:
        if document.kind == CUSTOM_PROMPT or (document.kind == PROFILE_SUMMARY and document.name in SUMMARIES):
            column = CUSTOM_PROMPT if document.kind == CUSTOM_PROMPT else document.name
            profile = get_locked(document.owner_id, now)
            setattr(profile, column, document.content)
            profile.updated_at = now
            profile.save(update_fields=[column, "updated_at"])


def request_refresh(*, owner: User, actor: str, now: datetime) -> JobRun:
    """Ask for a refresh of the portrait, once a minute for each owner. Raises Throttled."""
    with owner_locked(owner.pk):
        if wait := refresh_wait(find_last_refresh(owner.pk), now):
            seconds = ceil(wait.total_seconds())
            detail = _("It was refreshed less than a minute ago. Wait %(seconds)d seconds.") % {"seconds": seconds}
            raise Throttled(detail, retry_after_seconds=seconds)
        run = request_run(
            REFRESH,
            {"owner_id": owner.pk, "requested_by": actor},
            now=now,
            requested_by=actor,
        )
        details = {"run": run.pk}
        record_audit(
            now=now,
            actor=actor,
            tool_call="profile_refresh_requested",
            owner_id=owner.pk,
            details=details,
        )
    return run
