"""The app's acts of the audit log, room by room."""

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from minara_site.kernel.audit_log.table import AuditAct, FeedLine

PROFILE, ACTIVITY = "profile:page", "activity:page"
ACCOUNTS = ngettext_lazy("Added %(number)s own account", "Added %(number)s own accounts", "count")
REMOVED = ngettext_lazy("Removed %(number)s own account", "Removed %(number)s own accounts", "count")
SETTINGS = ngettext_lazy(
    "Changed the profile's settings %(number)s time",
    "Changed the profile's settings %(number)s times",
    "count",
)
WALLETS = ngettext_lazy(
    "Changed the reference wallets %(number)s time",
    "Changed the reference wallets %(number)s times",
    "count",
)
PROMPT = ngettext_lazy(
    "Changed the custom prompt %(number)s time",
    "Changed the custom prompt %(number)s times",
    "count",
)
FILES = ngettext_lazy("Changed %(number)s agent file", "Changed %(number)s agent files", "count")
ONBOARDING = ngettext_lazy(
    "Answered the onboarding %(number)s time",
    "Answered the onboarding %(number)s times",
    "count",
)

REBUILT = ngettext_lazy(
    "Rebuilt %(number)s line of the profile",
    "Rebuilt %(number)s lines of the profile",
    "count",
)
TAGS = ngettext_lazy("Set %(number)s tag", "Set %(number)s tags", "count")
CLEARED_TAGS = ngettext_lazy("Cleared %(number)s tag", "Cleared %(number)s tags", "count")

ACTS = (
    AuditAct(
        "profile_settings_changed",
        _("Settings of the profile changed"),
        changes_prompt=True,
        feed=FeedLine(SETTINGS, "t-person", PROFILE),
    ),
    AuditAct(
        "reference_wallets_changed",
        _("Reference wallets changed"),
        feed=FeedLine(WALLETS, "t-person", PROFILE),
    ),
    AuditAct("personalization_snapshot", _("Profile read by an agent")),
    AuditAct("search_user_trades", _("Trades of the user read by an agent")),
    AuditAct("search_conversation_memory", _("Memories of the user searched by an agent")),
    AuditAct(
        "profile_rebuilt",
        _("Profile rebuilt"),
        feed=FeedLine(REBUILT, "t-read", "changes:page"),
        undone_by="profile_write",
        undone_as="profile_rebuild_undone",
    ),
    AuditAct("profile_rebuild_undone", _("Rebuild of the profile undone"), changes_prompt=True),
    AuditAct("strategy_run_started", _("Strategy started")),
    AuditAct("strategy_run_stopped", _("Strategy stopped")),
    AuditAct("account_added", _("Own account added"), feed=FeedLine(ACCOUNTS, "t-person", ACTIVITY)),
    AuditAct("account_removed", _("Own account removed"), feed=FeedLine(REMOVED, "t-bad", ACTIVITY)),
    AuditAct("account_restored", _("Own account restored")),
    AuditAct("profile_refresh_requested", _("Refresh of the profile requested")),
    AuditAct(
        "custom_prompt_written",
        _("Custom prompt written"),
        changes_prompt=True,
        feed=FeedLine(PROMPT, "t-person", PROFILE),
    ),
    AuditAct("custom_prompt_held", _("Custom prompts held again"), changes_prompt=True),
    AuditAct("custom_prompt_released", _("Custom prompts let in"), changes_prompt=True),
    AuditAct("custom_prompt_discarded", _("Held custom prompts discarded")),
    AuditAct("profile_summary_written", _("Trading summary written"), changes_prompt=True),
    AuditAct("profile_summary_held", _("Trading summaries held again"), changes_prompt=True),
    AuditAct("profile_summary_released", _("Held trading summaries released"), changes_prompt=True),
    AuditAct("profile_summary_discarded", _("Held trading summaries discarded")),
    AuditAct(
        "workspace_file_written",
        _("Agent file written"),
        changes_prompt=True,
        feed=FeedLine(FILES, "t-person", "workspace:page"),
    ),
    AuditAct("workspace_file_held", _("Agent files held again"), changes_prompt=True),
    AuditAct("workspace_file_released", _("Agent files let in"), changes_prompt=True),
    AuditAct("workspace_file_discarded", _("Held agent files discarded")),
    AuditAct("workspace_attached", _("Folder of agent files set up")),
    AuditAct("bootstrap_carried", _("BOOTSTRAP.md carried by a session")),
    AuditAct(
        "onboarding_completed",
        _("Onboarding completed"),
        feed=FeedLine(ONBOARDING, "t-person", "onboarding:page"),
    ),
    AuditAct("onboarding_undone", _("Onboarding undone")),
    AuditAct(
        "tag_set",
        _("Tag set"),
        changes_prompt=True,
        feed=FeedLine(TAGS, "t-person", "tags:page"),
    ),
    AuditAct(
        "tag_cleared",
        _("Tag cleared"),
        changes_prompt=True,
        feed=FeedLine(CLEARED_TAGS, "t-bad", "tags:page"),
    ),
    AuditAct("tag_outranked", _("Tag noted while a stronger one counts")),
)
