"""The app's capabilities."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.table import Capability

REBUILDS = Capability(
    "personalization_rebuild",
    _("Rebuilds of profiles"),
    _("A model reads what users trade and say, and writes summary, tags and memories. Each run can be undone."),
)
CAPABILITIES = (REBUILDS,)
