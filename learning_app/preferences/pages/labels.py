"""Preferences in words: dimensions, kinds, where they come from, and what was done to them."""

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from learning_app.preferences.core import PREFERENCE_ORIGIN
from learning_app.preferences.models import Preference
from learning_app.vocabulary import PreferenceDimension, PreferenceKind, PreferenceSource, PreferenceState
from minara_site.kernel.core.vocabulary import IMPORT_ORIGIN, IMPORTED, Source
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.turns import turn_link
from minara_site.web.filters import Text

MEMORY_ORIGIN = "memory:"
DIMENSIONS: dict[PreferenceDimension, Text] = {
    PreferenceDimension.RISK_LIMIT: gettext_lazy("Risk limit"),
    PreferenceDimension.ASSET_UNIVERSE: gettext_lazy("Assets"),
    PreferenceDimension.CHAIN: gettext_lazy("Chains"),
    PreferenceDimension.VENUE: gettext_lazy("Venues"),
    PreferenceDimension.TIMEFRAME: gettext_lazy("Timeframe"),
    PreferenceDimension.STYLE: gettext_lazy("Style"),
    PreferenceDimension.LANGUAGE: gettext_lazy("Language"),
    PreferenceDimension.NOTIFICATION: gettext_lazy("Notifications"),
}
KINDS: dict[PreferenceKind, Text] = {
    PreferenceKind.SOFT_PREFERENCE: gettext_lazy("Soft preference"),
    PreferenceKind.HARD_CONSTRAINT: gettext_lazy("Hard constraint"),
}
STATES: dict[PreferenceState, Text] = {
    PreferenceState.PROPOSED: pgettext_lazy("preference", "Proposed"),
    PreferenceState.ACTIVE: pgettext_lazy("preference", "Active"),
    PreferenceState.REJECTED: gettext_lazy("Rejected"),
    PreferenceState.ARCHIVED: gettext_lazy("Archived"),
}
SOURCES: dict[PreferenceSource, str] = {
    PreferenceSource.USER: Source.USER_MANUAL,
    PreferenceSource.AGENT: Source.AGENT_RECORDED,
    PreferenceSource.MINED: Source.CHAT_EXTRACTED,
    PreferenceSource.IMPORTED: IMPORTED,
}
"""The badge of each source, in the words that memories have."""
UNREAD: dict[PreferenceState, Text] = {
    PreferenceState.PROPOSED: gettext_lazy("No agent reads it: it waits for a decision."),
    PreferenceState.REJECTED: gettext_lazy("No agent reads it: it was rejected."),
    PreferenceState.ARCHIVED: gettext_lazy("No agent reads it: it is archived."),
}


def author_label(row: Preference, name: str) -> str:
    """Return in words who proposed a preference; of a mined one who recorded its turn, where that is known."""
    is_of_turn = row.source == PreferenceSource.MINED and not row.actor.startswith("job:")
    return _("mining, out of a turn that was recorded by %(name)s") % {"name": name} if is_of_turn else name


def origin_of(row: Preference) -> tuple[str, str]:
    """Return in words what a preference was written out of, and its page; both are empty where nothing is known."""
    if memory_id := parse_number(row.origin, after=MEMORY_ORIGIN):
        return _("memory %(id)d") % {"id": memory_id}, reverse("memories:one", args=[memory_id])
    if corrected_id := parse_number(row.origin, after=PREFERENCE_ORIGIN):
        name = _("preference %(id)d, which it corrects") % {"id": corrected_id}
        return name, reverse("preferences:one", args=[corrected_id])
    if row.origin.startswith(IMPORT_ORIGIN):
        return _("the file %(file)s") % {"file": row.origin.removeprefix(IMPORT_ORIGIN)}, ""
    if not row.origin and row.source == PreferenceSource.USER and row.actor.startswith("user:"):
        return _("typed by hand"), ""
    words, url = turn_link(row.origin)
    return words or row.origin, url
