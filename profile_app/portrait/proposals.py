"""What keys may only propose of a portrait: switches and tags that a person set, and the reference wallets."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from minara_site.access.models import User
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import by_persons, did_person
from minara_site.kernel.core.vocabulary import is_named_key
from minara_site.kernel.proposals.kinds import Columns, Proposed
from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.proposals.services import propose
from profile_app.portrait.core.tags import SentValue, TagSource, serialize_tag_value
from profile_app.portrait.core.wallets import Wallet
from profile_app.portrait.pages.tags import NAMES, value_label
from profile_app.portrait.selectors.profile import load_settings, load_wallets
from profile_app.portrait.selectors.tags import check_name, find_tag, list_events, value_of
from profile_app.portrait.services.profile import change_settings, clean_wallets, set_reference_wallets
from profile_app.portrait.services.tags import check_values, clear_tag, set_tag

SWITCHES, TAG, WALLETS = "profile_switches", "tag", "reference_wallets"
SET, CLEAR = "set", "clear"


class SwitchesProposed(Proposed):
    """What prompts carry."""

    name, page = SWITCHES, "profile:page"
    label = gettext_lazy("What prompts carry")
    actions = {SET: gettext_lazy("Switch what prompts carry")}
    labels = {
        "include_memories": gettext_lazy("Memories"),
        "include_trading_summary": gettext_lazy("Trading summary"),
        "include_tags": gettext_lazy("Tags"),
    }

    def read(self, owner: User, key: str) -> dict[str, bool]:
        settings = load_settings(owner.pk)
        return {name: settings[name] for name in key.split(",")}

    def apply(self, proposal: ProposedChange, columns: Columns, *, principal: Principal, now: datetime) -> None:
        change_settings(owner=principal.owner, settings=columns, actor=principal.actor, now=now)


class TagProposed(Proposed):
    """A tag that a person declared."""

    name, page = TAG, "tags:page"
    actions = {SET: gettext_lazy("Set a tag"), CLEAR: gettext_lazy("Clear a tag")}

    def title(self, key: str) -> str:
        return str(NAMES[key])

    def value_label(self, name: str, value: Any) -> str:
        return value_label(name, serialize_tag_value(name, value))

    def read(self, owner: User, key: str) -> dict[str, Any]:
        tag = find_tag(owner=owner, name=key)
        return {key: value_of(key, tag.value)} if tag else {}

    def apply(self, proposal: ProposedChange, columns: Columns, *, principal: Principal, now: datetime) -> None:
        about: dict[str, Any] = {"owner": principal.owner, "name": proposal.key, "actor": principal.actor, "now": now}
        if columns:
            set_tag(**about, value=columns[proposal.key], source=TagSource.USER)
        else:
            clear_tag(**about)


class WalletsProposed(Proposed):
    """The wallets that a user follows, each as its address, a blank and its label."""

    name, page = WALLETS, "profile:page"
    label = gettext_lazy("Reference wallets")
    actions = {SET: gettext_lazy("Replace the reference wallets")}

    def read(self, owner: User, key: str) -> dict[str, list[str]]:
        return wallet_columns(load_wallets(owner, reader=owner))

    def apply(self, proposal: ProposedChange, columns: Columns, *, principal: Principal, now: datetime) -> None:
        wallets = [Wallet(*line.split(" ", 1)) for line in columns["wallets"]]
        set_reference_wallets(owner=principal.owner, wallets=wallets, actor=principal.actor, now=now)


def wallet_columns(wallets: Iterable[Wallet]) -> dict[str, list[str]]:
    """Return wallets as columns."""
    return {"wallets": [f"{each.address} {each.label}" for each in wallets]}


def propose_switches(*, principal: Principal, settings: Mapping[str, bool], now: datetime) -> ProposedChange | None:
    """Propose other switches where a person ever set one of them; None where the caller may switch them itself."""
    owner = principal.owner
    stored = load_settings(owner.pk)
    changed = [name for name, is_on in settings.items() if stored[name] is not is_on]
    is_asked = is_named_key(principal.actor) and changed
    if not is_asked or not did_person(owner.pk, "profile_settings_changed", details__has_any_keys=changed):
        return None
    about: dict[str, Any] = {"kind": SWITCHES, "key": ",".join(changed), "action": SET, "now": now}
    return propose(principal=principal, after={name: settings[name] for name in changed}, **about)


def propose_tag(
    *,
    principal: Principal,
    name: str,
    value: SentValue | None,
    now: datetime,
) -> ProposedChange | None:
    """Propose another value of a tag, or none, where a person ever set it; None where the caller may set it itself.

    Raises NotFound and Invalid for what is no tag.
    """
    check_name(name)
    if value is not None:
        check_values({name: value})
    if not is_named_key(principal.actor) or not did_person_set(principal.owner, name):
        return None
    action, after = (CLEAR, {}) if value is None else (SET, {name: value})
    return propose(principal=principal, kind=TAG, key=name, action=action, after=after, now=now)


def did_person_set(owner: User, name: str) -> bool:
    """Say whether a person ever said or cleared something of this dimension. One query."""
    return bool(list_events(owner=owner).filter(by_persons(), name=name).exists())


def propose_wallets(*, principal: Principal, wallets: list[Wallet], now: datetime) -> ProposedChange | None:
    """Propose other reference wallets; None where the caller may set them, or nothing changes. Raises Invalid."""
    stored = load_wallets(principal.owner, reader=principal.owner)
    checked = clean_wallets(wallets, stored)
    if not is_named_key(principal.actor) or checked == stored:
        return None
    about: dict[str, Any] = {"kind": WALLETS, "key": "wallets", "action": SET, "now": now}
    return propose(principal=principal, after=wallet_columns(checked), **about)
