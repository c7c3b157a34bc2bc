"""What django-allauth asks us."""

from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _


class ClosedAccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-in by name and password on our own pages, and nothing else."""

    error_messages: ClassVar[dict[str, str | Promise]] = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": _(
            "That user name and password do not match. Check both; after 5 wrong passwords sign-in rests for 5 minutes."
        ),
        "too_many_login_attempts": _("Too many wrong passwords. Wait 5 minutes, then try again."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Refuse: users come from the set-up link or the command line."""
        return False

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """Return the user; somebody disabled looks like a wrong password, so that names cannot be told apart."""
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        return user if user is not None and user.is_active else None

    def is_safe_url(self, url: str | None) -> bool:
        """Accept only this very address as a place to return to, no other name that the server answers to (W-23)."""
        request: HttpRequest = context.request
        return url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())

    def is_ajax(self, request: HttpRequest) -> bool:
        """Answer pages only; programs use API keys."""
        return False

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Say nothing: the page that follows shows who is signed in."""
