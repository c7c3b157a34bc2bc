"""What of the app the access log names when somebody else opened it."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.access_log import AccessSubject

ACCESS_SUBJECTS = (
    AccessSubject("memory", _("a memory"), "memories:one"),
    AccessSubject("memories", _("memories in a list or a search")),
    AccessSubject("facts", _("facts")),
    AccessSubject("role_memory", _("decisions of roles"), "role_memory:one"),
    AccessSubject("user_profile", _("the user profile")),
    AccessSubject("compiled", _("the page of an asset"), "pages:one"),
    AccessSubject("transfer", _("an export or import")),
    AccessSubject("transfers", _("the list of exports or imports")),
)
