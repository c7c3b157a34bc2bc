"""The app's capabilities, which its rooms ask for their mode."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.table import Capability

ROLE_REFLECTION = Capability(
    "role_reflection",
    _("Reflection on decisions"),
    _("A model says why a decision went wrong, and writes a lesson where there is one."),
)
CONTRADICTION_JUDGE = Capability(
    "contradiction_judge",
    _("Conflict resolution by a model"),
    _("A model decides which of two contradicting facts is kept."),
)
CAPABILITIES = (ROLE_REFLECTION, CONTRADICTION_JUDGE)
