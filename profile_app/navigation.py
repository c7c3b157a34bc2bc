"""The app's pages of the navigation, entry by entry."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Act
from minara_site.shell.nav import NavEntry, NavPage

NAVIGATION = (
    NavPage("prompt", _("What the agent sees"), "prompt:page", Act.PROMPT_READ, NavEntry.PROMPT, 1, "p"),
    NavPage("profile", _("Summary"), "profile:page", Act.PROFILE_READ, NavEntry.PROFILE, 1, also=("onboarding:page",)),
    NavPage("changes", _("Changes"), "changes:page", Act.PROFILE_READ, NavEntry.HOME, 2),
    NavPage("tags", _("Tags"), "tags:page", Act.PROFILE_READ, NavEntry.PROFILE, 2),
    NavPage("activity", _("Activity"), "activity:page", Act.PROFILE_READ, NavEntry.TRADING, 3),
    NavPage("capital", _("Capital"), "capital:page", Act.INTERNALS_READ, NavEntry.TRADING, 4),
    NavPage("strategy_runs", _("Strategy runs"), "strategy_runs:page", Act.INTERNALS_READ, NavEntry.TRADING, 5),
    NavPage("workspace", _("Agent files"), "workspace:page", Act.WORKSPACE_READ, NavEntry.PROFILE, 6),
)
