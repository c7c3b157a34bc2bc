"""The app's capabilities, which its rooms ask for their mode."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.table import Capability

METHODOLOGY_VERDICTS = Capability(
    "methodology_verdicts",
    _("Verdicts on methodologies"),
    _("A model reads the new cases of a graduated methodology. The third flag in a row quarantines it."),
)
METHODOLOGY_CANDIDATES = Capability(
    "methodology_candidates",
    _("Methodologies out of good cases"),
    _("A model says what good cases have in common. What it writes begins in quarantine."),
)
CAPABILITIES = (METHODOLOGY_VERDICTS, METHODOLOGY_CANDIDATES)
