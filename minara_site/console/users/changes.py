"""What an operator can do to somebody with one button, and what the page says before and after."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.access.security.factors import reset_second_factor
from minara_site.access.users import disable_user, enable_user, end_sessions_of
from minara_site.web.filters import Text


@dataclass(frozen=True, slots=True)
class Change:
    """An act on one person."""

    title: Text
    text: Text
    button: Text
    done: Text
    act: Callable[..., User]


CHANGES = {
    "disable": Change(
        _("Disable %(name)s?"),
        _(
            "They are signed out everywhere and their API keys are revoked for good, at once. Their data stay, and you "
            "can enable them again."
        ),
        _("Disable"),
        _("Disabled %(name)s. Sign-ins and keys have ended."),
        disable_user,
    ),
    "enable": Change(
        _("Enable %(name)s?"),
        _("They can sign in again with the password they had. Their old API keys stay revoked."),
        _("Enable"),
        _("Enabled %(name)s."),
        enable_user,
    ),
    "end_sessions": Change(
        _("Sign %(name)s out everywhere?"),
        _("Every browser asks for the password again. API keys keep working."),
        _("Sign out everywhere"),
        _("Signed %(name)s out everywhere."),
        end_sessions_of,
    ),
    "reset_factor": Change(
        _("Reset the second factor of %(name)s?"),
        _(
            "Do this only when you are sure who asks: after it the password alone is enough. They are signed out "
            "everywhere, and an operator must add a new factor at once."
        ),
        _("Reset the second factor"),
        _("Reset the second factor of %(name)s."),
        reset_second_factor,
    ),
}
