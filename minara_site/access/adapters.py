"""What django-allauth asks us."""

import base64
from typing import Any, ClassVar

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.totp.internal.auth import generate_totp_secret
from cryptography.fernet import Fernet, InvalidToken
from django.contrib.auth import authenticate
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from minara_site.access.addresses import client_address
from minara_site.access.security.lockout import address_limit, name_limit
from minara_site.access.security.proofs import check_proof
from minara_site.access.security.sessions import NO_ADDRESS, note_password

logger = structlog.get_logger(__name__)


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-in by name and password on our own pages, and nothing else."""

    error_messages: ClassVar[dict[str, str | Promise]] = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": _(
            "That user name and password do not match. Check both; "
            "after 5 wrong passwords sign-in is locked for 15 minutes."
        ),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Refuse: users come from the set-up link or the command line."""
        return False

    def authenticate(
        self,
        request: HttpRequest,
        **credentials: Any,
    ) -> AbstractBaseUser | None:
        """Return the user, or None, also for somebody disabled: names cannot be told apart. Raises Throttled.

        The try is counted before the password is looked at; one that succeeds is forgiven.
        """
        name, address = str(credentials.get("username", "")), self.get_client_ip(request)
        now, of_address, of_name = timezone.now(), address_limit(address), name_limit(name, address)
        of_address.count_attempt(now)
        of_name.count_attempt(now)
        user: AbstractBaseUser | None = authenticate(request, **credentials)
        if user is None:
            logger.warning("sign_in_failed", address=address)
        else:
            of_name.reset_attempts()
            of_address.uncount()
        return user

    def reauthenticate(self, user: AbstractBaseUser, password: str) -> bool:
        """Say whether this is the password of who is signed in; tries count for this session alone."""
        return check_proof(context.request, lambda: user.check_password(password))

    def pre_login(
        self,
        request: HttpRequest,
        user: AbstractBaseUser,
        **kwargs: Any,
    ) -> HttpResponse | None:
        """Note which password was right: a second step counts for that one only."""
        note_password(request.session, user)
        return super().pre_login(request, user, **kwargs)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that counts: of the client, or of the nearest machine that we do not trust."""
        return client_address(request) or NO_ADDRESS

    def is_safe_url(self, url: str | None) -> bool:
        """Accept only this very address as a place to return to, no other name that the server answers to (W-23)."""
        request: HttpRequest = context.request
        return url_has_allowed_host_and_scheme(
            url,
            {request.get_host()},
            require_https=request.is_secure(),
        )

    def is_ajax(self, request: HttpRequest) -> bool:
        """Answer pages only; programs use API keys."""
        return False

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Leave it to the policy: acts that are `fresh` ask for it, and a sign-in counts as well."""
        return False

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Say nothing: the page that follows shows who is signed in."""


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keeps what codes are made from encrypted, so that a copy of the database opens no account."""

    error_messages: ClassVar[dict[str, str | Promise]] = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": _("That does not match. A code counts once and for a minute; wait for the next one."),
    }

    def encrypt(self, text: str) -> str:
        """Return the text as it is stored."""
        return cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return what was stored; with another secret key a fresh secret, which no code fits."""
        try:
            return cipher().decrypt(encrypted_text).decode()
        except InvalidToken:
            logger.error("second_factor_unreadable")  # noqa: TRY400 - the trace would say nothing more
            return generate_totp_secret()


def cipher() -> Fernet:
    """Return the cipher of second factors; its key comes from the secret key."""
    return Fernet(base64.urlsafe_b64encode(salted_hmac("minara.second_factor", "", algorithm="sha256").digest()))
