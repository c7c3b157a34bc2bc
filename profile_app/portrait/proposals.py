"""What keys may only propose of a portrait: switches and tags that a person set, and the reference wallets."""

from abc import abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.core.vocabulary import PERSONS, is_named_key
from minara_site.kernel.proposals.kinds import Proposed
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import propose
from profile_app.portrait.core.tags import SentValue, TagSource
from profile_app.portrait.core.wallets import Wallet, parse_wallets
from profile_app.portrait.selectors.profile import load_profile, load_settings
from profile_app.portrait.selectors.tags import check_name, find_claim, find_tag
from profile_app.portrait.services.profile import change_settings, clean_wallets, set_reference_wallets
from profile_app.portrait.services.tags import check_values, clear_tag, set_tag

SWITCHES, TAG, WALLETS = "profile_switches", "tag", "reference_wallets"
SET, CLEAR = "set", "clear"


class PortraitProposed(Proposed):
    """A part of the portrait, as lines of text on both sides."""

    def url(self, proposal: ProposedChange) -> str:
        return reverse("profile:page")

    @abstractmethod
    def lines(self, owner: User, key: str) -> list[str]:
        """Return what it says now."""

    def before(self, proposal: ProposedChange) -> str | None:
        return "\n".join(self.lines(proposal.owner, proposal.key))

    def seen(self, owner: User, key: str) -> str:
        return content_digest("\n".join(self.lines(owner, key)))


class SwitchesProposed(PortraitProposed):
    """What prompts carry."""

    name = SWITCHES
    actions: ClassVar = {SET: gettext_lazy("Switch what prompts carry")}

    def title(self, proposal: ProposedChange) -> str:
        return _("What prompts carry")

    def lines(self, owner: User, key: str) -> list[str]:
        return switch_lines(load_settings(owner.pk))

    def after(self, proposal: ProposedChange) -> str:
        return "\n".join(switch_lines({**load_settings(proposal.owner_id), **proposal.after}))

    def apply(self, proposal: ProposedChange, *, principal: Principal, now: datetime) -> None:
        change_settings(owner=principal.owner, settings=proposal.after, actor=principal.actor, now=now)


class TagProposed(PortraitProposed):
    """A tag that a person declared."""

    name = TAG
    actions: ClassVar = {SET: gettext_lazy("Set a tag"), CLEAR: gettext_lazy("Clear a tag")}

    def title(self, proposal: ProposedChange) -> str:
        return _("Tag %(name)s") % {"name": proposal.key}

    def url(self, proposal: ProposedChange) -> str:
        return reverse("tags:page")

    def lines(self, owner: User, key: str) -> list[str]:
        tag = find_tag(owner=owner, name=key)
        return [tag.value] if tag else [_("nothing")]

    def after(self, proposal: ProposedChange) -> str:
        value = proposal.after.get("value", "")
        return ", ".join(value) if isinstance(value, list) else str(value)

    def apply(self, proposal: ProposedChange, *, principal: Principal, now: datetime) -> None:
        about: dict[str, Any] = {"owner": principal.owner, "name": proposal.key, "actor": principal.actor, "now": now}
        if proposal.action == CLEAR:
            clear_tag(**about)
        else:
            set_tag(**about, value=proposal.after["value"], source=TagSource.USER)


class WalletsProposed(PortraitProposed):
    """The wallets that a user follows."""

    name = WALLETS
    actions: ClassVar = {SET: gettext_lazy("Replace the reference wallets")}

    def title(self, proposal: ProposedChange) -> str:
        return _("Reference wallets")

    def lines(self, owner: User, key: str) -> list[str]:
        return wallet_lines(parse_wallets(load_profile(owner.pk).reference_wallets_json))

    def after(self, proposal: ProposedChange) -> str:
        return "\n".join(wallet_lines(wallets_of(proposal.after)))

    def apply(self, proposal: ProposedChange, *, principal: Principal, now: datetime) -> None:
        set_reference_wallets(owner=principal.owner, wallets=wallets_of(proposal.after), actor=principal.actor, now=now)


def switch_lines(settings: Mapping[str, bool]) -> list[str]:
    """Return switches as lines."""
    return [f"{name}: {'on' if is_on else 'off'}" for name, is_on in settings.items()]


def wallet_lines(wallets: tuple[Wallet, ...]) -> list[str]:
    """Return wallets as lines."""
    return [f"{each.address} {each.label}".strip() for each in wallets]


def wallets_of(after: Mapping[str, Any]) -> tuple[Wallet, ...]:
    """Return the wallets that a proposal keeps."""
    return tuple(Wallet(address, label) for address, label in after["wallets"])


def propose_switches(*, principal: Principal, settings: Mapping[str, bool], now: datetime) -> ProposedChange | None:
    """Propose other switches where a person set one of them; None where the caller may switch them itself."""
    stored = load_settings(principal.owner.pk)
    changed = {name: is_on for name, is_on in settings.items() if stored.get(name) is not is_on}
    if not (is_named_key(principal.actor) and changed and did_person_switch(principal.owner, changed)):
        return None
    return send(principal, SWITCHES, "switches", SET, changed, now=now)


def did_person_switch(owner: User, names: Mapping[str, bool]) -> bool:
    """Say whether a person ever set one of these switches. One query."""
    persons = Q(*(("actor__startswith", kind) for kind in PERSONS), _connector=Q.OR)
    acts = AuditEntry.objects.filter(persons, owner=owner, tool_call="profile_settings_changed")
    return acts.filter(details__has_any_keys=list(names)).exists()


def propose_tag(
    *,
    principal: Principal,
    name: str,
    value: SentValue | None,
    now: datetime,
) -> ProposedChange | None:
    """Propose another value of a tag, or none, where a person declared it; None where the caller may set it itself.

    Raises NotFound and Invalid for what is no tag.
    """
    check_name(name)
    if value is not None:
        check_values({name: value})
    if not is_named_key(principal.actor) or not is_declared_by_person(principal.owner, name):
        return None
    after = {} if value is None else {"value": value}
    return send(principal, TAG, name, CLEAR if value is None else SET, after, now=now)


def is_declared_by_person(owner: User, name: str) -> bool:
    """Say whether a person said what a tag says as its user's word. One query."""
    claim = find_claim(owner=owner, name=name, source=TagSource.USER)
    return claim is not None and claim.actor.startswith(PERSONS)


def propose_wallets(*, principal: Principal, wallets: list[Wallet], now: datetime) -> ProposedChange | None:
    """Propose other reference wallets; None where the caller may set them, or nothing changes. Raises Invalid."""
    stored = parse_wallets(load_profile(principal.owner.pk).reference_wallets_json)
    checked = clean_wallets(wallets, stored)
    if not is_named_key(principal.actor) or checked == stored:
        return None
    after = {"wallets": [[each.address, each.label] for each in checked]}
    return send(principal, WALLETS, "wallets", SET, after, now=now)


def send(
    principal: Principal,
    kind: str,
    key: str,
    action: str,
    after: Mapping[str, Any],
    *,
    now: datetime,
) -> ProposedChange:
    """Store a proposal about the portrait."""
    about: dict[str, Any] = {"owner": principal.owner, "actor": principal.actor, "now": now}
    return propose(kind=kind, key=key, action=action, after=after, **about)
