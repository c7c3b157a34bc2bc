"""Sign-in by name and password; every later request reads user and role in one query."""

from typing import TYPE_CHECKING

from allauth.account.auth_backends import AuthenticationBackend

if TYPE_CHECKING:
    from minara_site.access.models import User


class AccountBackend(AuthenticationBackend):  # type: ignore[misc]
    """allauth's backend with the role read along."""

    def get_user(self, user_id: int) -> "User | None":
        """Return the active user with role, or None."""
        from minara_site.access.models import User

        found: User | None = User.objects.with_role().filter(pk=user_id, is_active=True).first()
        return found
