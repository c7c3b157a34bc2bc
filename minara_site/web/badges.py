"""Words, icons and shapes of the badges. Solid is settled, dashed is not yet, hatched is held."""

from dataclasses import dataclass, replace

from django.utils.translation import gettext_lazy as _

from minara_site.web.filters import Text


@dataclass(frozen=True, slots=True)
class Badge:
    """A badge: the class that gives its shape, its icon, and its word, which always stands."""

    shape: str
    icon: str
    word: Text


SOURCES = {
    "user_manual": Badge("src-declared", "person", _("You wrote")),
    "user_explicit": Badge("src-declared", "chat", _("You said")),
    "learned_preference": Badge("src-learned", "spark", _("Learned")),
    "inferred": Badge("src-inferred", "eye", _("Inferred")),
    "chat_extracted": Badge("src-inferred", "chat", _("From chat")),
    "agent_recorded": Badge("src-agent", "agent", _("Agent")),
    "imported": Badge("src-imported", "io", _("Imported")),
    "user": Badge("src-declared", "person", _("Declared")),
    "brought_in": Badge("src-imported", "io", _("Brought in")),
}
OF_ANOTHER = {"user_manual": _("Owner wrote"), "user_explicit": _("Owner said")}
STATES = {
    "active": Badge("state-active", "", _("Active")),
    "live": Badge("state-active", "", _("Active")),
    "pending": Badge("state-pending", "", _("Pending")),
    "proposed": Badge("state-proposed", "", _("Proposed")),
    "held": Badge("state-held", "", _("Held")),
    "retired": Badge("state-retired", "", _("Retired")),
    "rejected": Badge("state-retired", "", _("Rejected")),
    "archived": Badge("state-retired", "", _("Archived")),
    "deleted": Badge("state-deleted", "", _("Deleted")),
    "failed": Badge("state-failed", "", _("Failed")),
    "queued": Badge("state-pending", "", _("Waiting")),
    "running": Badge("state-running", "", _("Running")),
    "succeeded": Badge("state-active", "", _("Done")),
    "cancelled": Badge("state-retired", "", _("Cancelled")),
    "revoked": Badge("state-retired", "", _("Revoked")),
    "expired": Badge("state-retired", "", _("Expired")),
    "disabled": Badge("state-retired", "", _("Disabled")),
    "invited": Badge("state-pending", "", _("Invited")),
    "no_password": Badge("state-pending", "", _("No password")),
}


def source_of(source: str, *, is_own: bool = True) -> Badge:
    """Return the badge of a source; one that this version does not know keeps its own word."""
    badge = SOURCES.get(source, Badge("src-inferred", "info", source))
    return badge if is_own else replace(badge, word=OF_ANOTHER.get(source, badge.word))


def state_of(state: str) -> Badge:
    """Return the badge of a state; one that this version does not know keeps its own word."""
    return STATES.get(state, Badge("state-retired", "", state))
