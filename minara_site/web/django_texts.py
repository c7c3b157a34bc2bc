"""Messages of Django that its Chinese catalogue lacks or words in another tone; the console's catalogue comes first.

Django looks them up. They stand here so that `makemessages` keeps them.
"""

from django.utils.translation import gettext_noop, ngettext_lazy

BORROWED = (
    gettext_noop("Your old password was entered incorrectly. Please enter it again."),
    gettext_noop("Your password can’t be too similar to your other personal information."),  # noqa: RUF001 - Django's own
    gettext_noop("The password is too similar to the %(verbose_name)s."),
    gettext_noop("Select a valid choice. %(value)s is not one of the available choices."),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
    ngettext_lazy(
        "Ensure this value has at most %(limit_value)d character (it has %(show_value)d).",
        "Ensure this value has at most %(limit_value)d characters (it has %(show_value)d).",
        "limit_value",
    ),
)
