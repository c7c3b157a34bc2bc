"""Make, revoke and check API keys. `create_key` returns the text of a key once; nothing stores or logs it."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from minara_site.access.keys.core import (
    KeyState,
    NewKey,
    generate_key,
    hash_key,
    is_inside,
    is_same_key,
    parse_key,
    parse_networks,
)
from minara_site.access.models import ApiKey, User, role_columns
from minara_site.access.policy import AGENT_SCOPES, Role, Scope
from minara_site.access.principal import Principal
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, Refused, Unauthenticated, invalid_field, or_not_found
from minara_site.kernel.plain_text import clean_text

logger = structlog.get_logger(__name__)

GATEWAY_PREFIX = "gateway"
LONGEST_LIFE_DAYS = 3650
NOTE_USE_AFTER = timedelta(seconds=60)
NOBODYS_SHA256 = hash_key("")  # compared with when no such key exists, so that both cases take the same time


def create_key(
    *,
    user: User,
    scopes: Iterable[str],
    now: datetime,
    actor: str,
    label: str = "",
    expires_days: int | None = None,
    networks: str = "",
) -> NewKey:
    """Make a key of this user and return it, text included, for the only time.

    `expires_days` is None for the configured life, 0 for none. Raises Invalid, or Conflict for somebody disabled.
    """
    if not user.is_active:
        raise Conflict(_("%(name)s is disabled; no key would open anything.") % {"name": user.username})
    granted = check_scopes(scopes, user.role)
    days = settings.MINARA.minara_key_expires_days if expires_days is None else expires_days
    if not 0 <= days <= LONGEST_LIFE_DAYS:
        raise invalid_field(
            "expires_days",
            _("Choose 1 to %(most)d days, or 0 for no expiry.") % {"most": LONGEST_LIFE_DAYS},
        )
    key = generate_key(settings.MINARA.minara_key_environment)
    row = ApiKey(
        prefix=key.prefix,
        secret_sha256=hash_key(key.text),
        user=user,
        label=clean_text(label, field="label", max_chars=80, min_chars=0),
        scopes=granted,
        allowed_networks=check_networks(networks),
        created_at=now,
        expires_at=now + timedelta(days=days) if days else None,
    )
    with transaction.atomic():
        row.save(force_insert=True)
        record_audit(
            now=now,
            actor=actor,
            tool_call="api_key_created",
            owner_id=user.pk,
            details={"key": key.prefix, "scopes": granted, "expires_days": days},
        )
    return key


def check_scopes(scopes: Iterable[str], role: Role) -> list[str]:
    """Return the scopes in the policy's order. Raises Invalid for none, an unknown one, or a user's `operator`."""
    asked = set(scopes)
    unknown = asked - {*Scope}
    if unknown or not asked:
        raise invalid_field(
            "scopes",
            _("Choose from: %(scopes)s.") % {"scopes": ", ".join(Scope)},
        )
    if Scope.OPERATOR in asked and role is not Role.OPERATOR:
        raise invalid_field("scopes", _("The scope operator is for operators' own keys only."))
    return [scope.value for scope in Scope if scope in asked]


def check_networks(text: str) -> list[str]:
    """Return the networks as text. Raises Invalid."""
    try:
        return [str(network) for network in parse_networks(text)]
    except ValueError:
        raise invalid_field("networks", _("Write addresses or networks such as 203.0.113.7 or 10.0.0.0/8.")) from None


def get_key(*, prefix: str, user: User) -> ApiKey:
    """Return a key of this user. Raises NotFound, also for somebody else's."""
    return or_not_found(ApiKey.objects.for_owner(user).filter(prefix=prefix).first(), _("There is no such key."))


def list_keys(user: User | None = None) -> "QuerySet[ApiKey]":
    """Return the keys of this user, or everybody's for the command line, newest first."""
    keys = ApiKey.objects.all() if user is None else ApiKey.objects.for_owner(user)
    return keys.select_related("user").order_by("-created_at", "-id")


def revoke_key(
    *,
    prefix: str,
    now: datetime,
    actor: str,
    user: User | None = None,
) -> ApiKey:
    """Close a key for good, on every worker at once; a second time changes nothing. Raises NotFound.

    `user` is whose key it must be; None is the command line, which closes anyone's.
    """
    keys = ApiKey.objects.all() if user is None else ApiKey.objects.for_owner(user)
    with transaction.atomic():
        key: ApiKey = or_not_found(keys.select_for_update().filter(prefix=prefix).first(), _("There is no such key."))
        if key.revoked_at is None:
            key.revoked_at = now
            key.save(update_fields=["revoked_at"])
            details = {"key": prefix}
            record_audit(
                now=now,
                actor=actor,
                tool_call="api_key_revoked",
                owner_id=key.user_id,
                details=details,
            )
    return key


def authenticate_key(text: str, *, address: str, now: datetime) -> Principal:
    """Return the caller who holds this key, in one query. Raises Unauthenticated, or Refused from a foreign network.

    Only somebody who has the whole key learns why it is closed; for anybody else every key is unknown.
    """
    gateway_token = settings.MINARA.gateway_auth_token.strip()
    if gateway_token and is_same_key(text, hash_key(gateway_token)):
        return gateway_principal()
    prefix = parse_key(text)
    key = next(iter(keys_with_user().filter(prefix=prefix)), None) if prefix else None
    if not is_same_key(text, key.secret_sha256 if key else NOBODYS_SHA256) or key is None:
        raise Unauthenticated(_("This API key is unknown. Check that it was copied whole."), code="key_unknown")
    refuse_closed(key, address=address, now=now)
    note_use(key, now=now)
    scopes = frozenset(scope for scope in Scope if scope in key.scopes)
    return Principal(
        user=key.owner,
        role=key.owner.role,
        scopes=scopes,
        key_prefix=key.prefix,
    )


@cache
def keys_with_user() -> "QuerySet[ApiKey]":
    """Return the query that every call begins with, with user and role: building it takes longer than running it."""
    return ApiKey.objects.select_related("user").annotate(**role_columns("user_id"))


def refuse_closed(key: ApiKey, *, address: str, now: datetime) -> None:
    """Raise Unauthenticated for a revoked or expired key or a disabled user, Refused from a foreign network."""
    match key.state(now):
        case KeyState.REVOKED:
            raise Unauthenticated(_("This API key was revoked. Make a new one."), code="key_revoked")
        case KeyState.EXPIRED:
            raise Unauthenticated(_("This API key has expired. Make a new one."), code="key_expired")
    if not key.user.is_active:
        raise Unauthenticated(_("The user of this API key is disabled. Ask an operator."), code="user_disabled")
    if not is_inside(address, key.allowed_networks):
        raise Refused(_("This API key may not be used from this network address."), code="key_network")


def note_use(key: ApiKey, *, now: datetime) -> None:
    """Keep when the key was last used, at most once a minute. A database that cannot write does not stop a read."""
    stale = now - NOTE_USE_AFTER
    if key.last_used_at is not None and key.last_used_at > stale:
        return
    unused = Q(last_used_at__isnull=True) | Q(last_used_at__lte=stale)
    try:
        ApiKey.objects.filter(unused, pk=key.pk).update(last_used_at=now)
    except DatabaseError:
        logger.warning("api_key_use_not_noted", key=key.prefix)


def gateway_principal() -> Principal:
    """Return the default user with the scopes of an agent, never an operator's. Raises Unauthenticated."""
    user: User = User.objects.with_role().get(is_default=True)
    if not user.is_active:
        raise Unauthenticated(_("The default user is disabled. Ask an operator."), code="user_disabled")
    return Principal(
        user=user,
        role=user.role,
        scopes=AGENT_SCOPES,
        key_prefix=GATEWAY_PREFIX,
    )
