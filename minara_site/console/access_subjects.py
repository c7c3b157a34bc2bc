"""What of the console's own pages the access log names when somebody else opened it."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.access_log import AccessSubject

ACCESS_SUBJECTS = (
    AccessSubject("hold", _("a held text"), "held:one"),
    AccessSubject("holds", _("held texts in a list")),
    AccessSubject("shadows", _("what ran in shadow mode")),
    AccessSubject("account", _("the account: sign-ins and keys")),
    AccessSubject("tables", _("rows of the tables")),
)
