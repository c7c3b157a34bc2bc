"""Sign-in by name and password; every later request reads user and role in one query."""

from allauth.account.auth_backends import AuthenticationBackend

from minara_site.access.models import User
from minara_site.access.security.factors import factor_exists


class AccountBackend(AuthenticationBackend):  # type: ignore[misc]
    """allauth's backend with role and second factor read along."""

    def get_user(self, user_id: int) -> User | None:
        """Return the active user with role and `has_factor`, or None."""
        users = User.objects.with_role().annotate(has_factor=factor_exists())
        return users.filter(pk=user_id, is_active=True).first()
