"""Tables of access: users, API keys, one-time links and the log of who looked at whose data."""

from datetime import datetime
from typing import Any, ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from minara_site.access.keys.core import KeyState, decide_state
from minara_site.access.policy import Role
from minara_site.kernel.fields import one_of

DEFAULT_USERNAME = "default"
OPERATORS_GROUP = "operators"
SUPPORT_GROUP = "support"


class Theme(models.TextChoices):
    """Light or dark; system follows the machine."""

    SYSTEM = "system", _("As the system")
    LIGHT = "light", _("Light")
    DARK = "dark", _("Dark")


class Density(models.TextChoices):
    """How tall rows and controls are."""

    COMPACT = "compact", _("Compact")
    STANDARD = "standard", _("Standard")
    COMFORTABLE = "comfortable", _("Comfortable")


def role_columns(user_id: str) -> dict[str, Exists]:
    """Return the annotations that `User.role` reads; `user_id` names the column of the outer query."""
    groups = User.groups.through.objects.filter(user_id=OuterRef(user_id))
    return {
        "in_operators": Exists(groups.filter(group__name=OPERATORS_GROUP)),
        "in_support": Exists(groups.filter(group__name=SUPPORT_GROUP)),
    }


class UserQuerySet(models.QuerySet["User"]):
    """Users."""

    def with_role(self) -> Self:
        """Read the two groups in the same query, so that `User.role` costs none."""
        return self.annotate(**role_columns("pk"))

    def named(self, name: str) -> Self:
        """Keep the user of this name; `default` is the one that single-user data belong to, renamed or not."""
        return self.filter(Q(is_default=True) if name == DEFAULT_USERNAME else Q(username=name))


class AccountManager(UserManager.from_queryset(UserQuerySet)):  # type: ignore[misc]
    """Creates users through Django's own manager."""


class User(AbstractUser):
    """Somebody who signs in, and the owner of what an agent remembers for them."""

    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    display_name = models.CharField(max_length=80, blank=True)
    is_default = models.BooleanField(default=False, editable=False)
    language = models.CharField(max_length=12, choices=settings.LANGUAGES, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    theme = models.CharField(max_length=8, choices=Theme, default=Theme.SYSTEM)
    density = models.CharField(max_length=12, choices=Density, default=Density.STANDARD)
    shortcuts = models.BooleanField(default=True)
    last_visit_at = models.DateTimeField(null=True, blank=True)
    previous_visit_at = models.DateTimeField(null=True, blank=True)
    second_factor_due_at = models.DateTimeField(null=True, blank=True)  # set by an operator's first sign-in without one

    objects: ClassVar[Any] = AccountManager()

    class Meta(AbstractUser.Meta):
        swappable = "AUTH_USER_MODEL"
        constraints = [
            models.UniqueConstraint(Lower("username"), name="username_once_in_any_case"),
            models.UniqueConstraint(
                fields=["is_default"],
                condition=Q(is_default=True),
                name="one_default_user",
            ),
            one_of("theme", Theme.values, "user_theme_known"),
            one_of("density", Density.values, "user_density_known"),
        ]

    @property
    def role(self) -> Role:
        """What this person is; one query unless the row came through `with_role`."""
        if not hasattr(self, "in_operators"):
            names = set(self.groups.values_list("name", flat=True))
            self.in_operators, self.in_support = OPERATORS_GROUP in names, SUPPORT_GROUP in names
        if self.in_operators:
            return Role.OPERATOR
        return Role.SUPPORT if self.in_support else Role.USER

    def get_short_name(self) -> str:
        """Return what the console calls this person."""
        return self.display_name or self.username


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """API keys."""

    def for_owner(self, user: User) -> Self:
        return self.filter(user=user)


class ApiKey(models.Model):
    """A bearer key of one user. The secret is shown once and kept only as SHA-256."""

    prefix = models.CharField(max_length=8, unique=True)
    secret_sha256 = models.CharField(max_length=64)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="api_keys",
    )
    label = models.CharField(max_length=80, blank=True)
    scopes = models.JSONField(default=list)
    allowed_networks = models.JSONField(default=list)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = ApiKeyQuerySet.as_manager()

    class Meta:
        db_table = "api_keys"
        indexes = [models.Index(fields=["user", "-created_at", "-id"], name="api_keys_user_newest")]

    @property
    def owner(self) -> User:
        """The user, with the role when it was read along."""
        user: User = self.user
        if "in_operators" in vars(self):
            user.in_operators, user.in_support = vars(self)["in_operators"], vars(self)["in_support"]
        return user

    def state(self, now: datetime) -> KeyState:
        return decide_state(
            expires_at=self.expires_at,
            revoked_at=self.revoked_at,
            now=now,
        )


class SetupLink(models.Model):
    """The one-time link that makes the first operator. Only its SHA-256 is kept."""

    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "setup_links"


class AccessEntry(models.Model):
    """A person opened data of another owner, who can read it here. `ends_at` is until when a reveal lasted."""

    at = models.DateTimeField()
    viewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    kind = models.CharField(max_length=40)
    object_id = models.CharField(max_length=64)
    reason = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
    )
    ends_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "access_log"
        indexes = [
            models.Index(fields=["owner", "-at", "-id"], name="access_log_owner_newest"),
            models.Index(fields=["-at", "-id"], name="access_log_newest"),
            models.Index(fields=["viewer", "-at", "-id"], name="access_log_viewer_newest"),
            models.Index(
                fields=["kind", "object_id", "-at"],
                condition=Q(ends_at__isnull=False),
                name="access_log_reveals",
            ),
            models.Index(
                fields=["viewer", "-at", "-id"],
                condition=Q(ends_at__isnull=False),
                name="access_log_reveals_of",
            ),
        ]


class Invitation(models.Model):
    """A link that lets somebody choose a password once: at the beginning, or after theirs was lost. SHA-256 only."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="invitations",
    )
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "invitations"
