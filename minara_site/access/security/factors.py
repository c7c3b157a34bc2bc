"""Second factors: an authenticator app, passkeys, recovery codes (trust W-11). allauth keeps and checks them.

An operator needs an app or a passkey. From the first request of one who has neither they have as long as one sign-in of
an operator lasts, after a reset no time at all; `User.second_factor_due_at` keeps the end of it. Whoever changes a
factor ends their other sessions. The secret of an app and the seed of the codes are stored encrypted
(`access.adapters`).
"""

from dataclasses import dataclass, field
from datetime import datetime

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.webauthn.internal.auth import WebAuthn
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.access.policy import Role
from minara_site.access.security.sessions import end_other_sign_ins, operator_life
from minara_site.access.users import end_sessions, get_user
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, or_not_found
from minara_site.kernel.plain_text import clean_text

APP, PASSKEY, CODES = Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN, Authenticator.Type.RECOVERY_CODES
FACTORS = (APP, PASSKEY)  # recovery codes stand in for one of these and are none themselves
MAX_PASSKEYS = 10


@dataclass(frozen=True, slots=True)
class Passkey:
    """One passkey, in words."""

    id: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Factors:
    """What somebody can show beside a password."""

    app: Authenticator | None = None
    passkeys: list[Passkey] = field(default_factory=list)
    codes_left: int | None = None

    @property
    def count(self) -> int:
        return len(self.passkeys) + (self.app is not None)


def factor_exists() -> Exists:
    """Return the annotation `has_factor` of a query of users."""
    return Exists(Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS))


def has_factor(user: User) -> bool:
    """Say whether somebody has an app or a passkey; no query when the row came through `factor_exists`."""
    known: bool | None = getattr(user, "has_factor", None)  # also through the lazy user of a request
    if known is not None:
        return known
    return Authenticator.objects.filter(user=user, type__in=FACTORS).exists()


def find_due_moment(user: User, *, now: datetime) -> datetime | None:
    """Return until when an operator may go on without a second factor, and keep it; None for everybody else."""
    if user.role is not Role.OPERATOR or has_factor(user):
        return None
    if user.second_factor_due_at is None:
        user.second_factor_due_at = now + operator_life()
        User.objects.filter(pk=user.pk, second_factor_due_at=None).update(
            second_factor_due_at=user.second_factor_due_at
        )
    return user.second_factor_due_at


def list_factors(user: User) -> Factors:
    """Return what somebody can show beside a password."""
    rows = list(Authenticator.objects.filter(user=user).order_by("created_at", "pk"))
    codes = next((row for row in rows if row.type == CODES), None)
    return Factors(
        app=next((row for row in rows if row.type == APP), None),
        passkeys=[
            Passkey(
                row.pk,
                str(row.data.get("name", "")),
                row.created_at,
                row.last_used_at,
            )
            for row in rows
            if row.type == PASSKEY
        ],
        codes_left=len(codes.wrap().get_unused_codes()) if codes else None,
    )


def add_app(
    *,
    user: User,
    secret: str,
    session_key: str,
    now: datetime,
    actor: str,
) -> list[str]:
    """Add the app that holds this secret; return new recovery codes, or none. Raises Conflict for a second app."""
    with transaction.atomic():
        lock(user)
        if Authenticator.objects.filter(user=user, type=APP).exists():
            raise Conflict(_("An authenticator app is set up already. Remove it first to set up another."))
        added = TOTP.activate(user, secret).instance
        return keep_added(
            added,
            user=user,
            session_key=session_key,
            now=now,
            actor=actor,
        )


def add_passkey(
    *,
    user: User,
    name: str,
    credential: dict[str, object],
    session_key: str,
    now: datetime,
    actor: str,
) -> list[str]:
    """Add a passkey that the browser has made; return new recovery codes, or none. Raises Conflict or Invalid."""
    name = clean_text(name, field="name", max_chars=80, min_chars=0) or _("Passkey")
    with transaction.atomic():
        lock(user)
        if Authenticator.objects.filter(user=user, type=PASSKEY).count() >= MAX_PASSKEYS:
            raise Conflict(_("You have %(most)d passkeys. Remove one first.") % {"most": MAX_PASSKEYS})
        added = WebAuthn.add(user, name, credential).instance
        return keep_added(
            added,
            user=user,
            session_key=session_key,
            now=now,
            actor=actor,
        )


def lock(user: User) -> None:
    """Let one change of somebody's factors wait for another."""
    User.objects.select_for_update().get(pk=user.pk)


def keep_added(
    row: Authenticator,
    *,
    user: User,
    session_key: str,
    now: datetime,
    actor: str,
) -> list[str]:
    """Write down a new factor, end the other sessions, and return recovery codes when there were none."""
    User.objects.filter(pk=user.pk).update(second_factor_due_at=None)
    note_change("second_factor_added", row, now=now, actor=actor)
    end_other_sign_ins(
        user=user,
        session_key=session_key,
        now=now,
        actor=actor,
    )
    if Authenticator.objects.filter(user=user, type=CODES).exists():
        return []
    return RecoveryCodes.activate(user).get_unused_codes()


def get_factor(*, user: User, factor_id: int) -> Authenticator:
    """Return an app or passkey of this user. Raises NotFound, also for somebody else's."""
    return or_not_found(
        Authenticator.objects.filter(user=user, pk=factor_id, type__in=FACTORS).first(),
        _("There is no such second factor."),
    )


def remove_factor(
    *,
    user: User,
    factor_id: int,
    session_key: str,
    now: datetime,
    actor: str,
) -> None:
    """Remove an app or passkey, with the last one the codes. Raises NotFound, or Conflict for an operator's last."""
    with transaction.atomic():
        lock(user)
        row = get_factor(user=user, factor_id=factor_id)
        is_last = Authenticator.objects.filter(user=user, type__in=FACTORS).count() == 1
        if is_last and user.role is Role.OPERATOR:
            raise Conflict(_("Operators need a second factor. Add another one, then remove this one."))
        note_change("second_factor_removed", row, now=now, actor=actor)
        row.delete()
        if is_last:
            Authenticator.objects.filter(user=user).delete()
        end_other_sign_ins(
            user=user,
            session_key=session_key,
            now=now,
            actor=actor,
        )


def renew_codes(
    *,
    user: User,
    session_key: str,
    now: datetime,
    actor: str,
) -> list[str]:
    """Replace the recovery codes and return the new ones, for the only time. Raises Conflict without a factor."""
    with transaction.atomic():
        lock(user)
        if not Authenticator.objects.filter(user=user, type__in=FACTORS).exists():
            raise Conflict(_("Recovery codes replace a second factor. Add one first."))
        Authenticator.objects.filter(user=user, type=CODES).delete()
        codes = RecoveryCodes.activate(user)
        note_change("recovery_codes_renewed", codes.instance, now=now, actor=actor)
        end_other_sign_ins(
            user=user,
            session_key=session_key,
            now=now,
            actor=actor,
        )
    return codes.get_unused_codes()


def reset_second_factor(*, username: str, now: datetime, actor: str) -> User:
    """Take every factor from somebody who lost theirs, and sign them out everywhere. Raises NotFound.

    They sign in by password alone again; to an operator nothing but the pages that add a factor is open then. Raises
    Conflict for an operator's own: there another one comes first.
    """
    with transaction.atomic():
        user = get_user(username)
        if actor == f"user:{user.pk}":
            raise Conflict(_("Operators need a second factor. Add another one, then remove this one."))
        lock(user)
        Authenticator.objects.filter(user=user).delete()
        due_at = now if user.role is Role.OPERATOR else None
        User.objects.filter(pk=user.pk).update(second_factor_due_at=due_at)
        end_sessions(user)
        record_audit(
            now=now,
            actor=actor,
            tool_call="second_factor_reset",
            owner_id=user.pk,
        )
    return user


def note_change(
    tool_call: str,
    row: Authenticator,
    *,
    now: datetime,
    actor: str,
) -> None:
    """Write down what happened to a factor: its id and kind, nothing of what it holds."""
    details = {"factor": row.pk, "kind": row.type}
    record_audit(
        now=now,
        actor=actor,
        tool_call=tool_call,
        owner_id=row.user_id,
        details=details,
    )
