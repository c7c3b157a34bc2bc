"""The app's capabilities, which its rooms ask for their mode."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.table import Capability

LEARNING_REVIEW = Capability(
    "learning_review",
    _("Review of turns"),
    _("A model scores finished turns. What good ones teach is stored as a learning of their owner."),
)
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
PREFERENCE_MINING = Capability(
    "preference_mining",
    _("Preferences out of turns"),
    _("A model reads what users wrote and proposes what they prefer. A person approves each."),
)
REFLECTION_NOTES = Capability(
    "reflection_notes",
    _("Lessons out of trades"),
    _("A model looks back at the closed trades of an agent and writes lessons, which its next decisions read."),
)
INSTITUTION_RUNS = Capability(
    "institution_runs",
    _("Institution runs"),
    _("A committee of model roles decides on a ticker when a person, an agent or the command asks for it."),
    has_shadow=False,
)
CAPABILITIES = (
    LEARNING_REVIEW,
    METHODOLOGY_VERDICTS,
    METHODOLOGY_CANDIDATES,
    PREFERENCE_MINING,
    REFLECTION_NOTES,
    INSTITUTION_RUNS,
)
