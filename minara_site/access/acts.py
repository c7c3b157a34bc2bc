"""The acts of access in the audit log."""

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from minara_site.kernel.audit_log.table import AuditAct, FeedLine

MADE_USER = ngettext_lazy("Made %(number)s account", "Made %(number)s accounts", "count")
DISABLED_USER = ngettext_lazy("Disabled %(number)s user", "Disabled %(number)s users", "count")
MADE_KEY = ngettext_lazy("Made %(number)s API key", "Made %(number)s API keys", "count")
REVOKED_KEY = ngettext_lazy("Revoked %(number)s API key", "Revoked %(number)s API keys", "count")

ACTS = (
    AuditAct("signed_in", _("Signed in")),
    AuditAct("sign_in_ended", _("Signed out elsewhere")),
    AuditAct("setup_claimed", _("First operator set up"), feed=FeedLine(_("Became the first operator"), "t-person")),
    AuditAct("user_created", _("Account made"), feed=FeedLine(MADE_USER, "t-person")),
    AuditAct("user_disabled", _("Account disabled"), feed=FeedLine(DISABLED_USER, "t-bad")),
    AuditAct("user_enabled", _("Account enabled")),
    AuditAct("invitation_made", _("Invitation made")),
    AuditAct("invitation_withdrawn", _("Invitation withdrawn")),
    AuditAct("invitation_accepted", _("Invitation accepted")),
    AuditAct("role_changed", _("Account type changed")),
    AuditAct("sessions_ended", _("Signed out everywhere")),
    AuditAct(
        "session_ended_unproven",
        _("Signed out after five wrong tries"),
        feed=FeedLine(_("Was signed out after five wrong passwords or codes"), "t-bad"),
    ),
    AuditAct("second_factor_added", _("Second factor added")),
    AuditAct("second_factor_removed", _("Second factor removed")),
    AuditAct("second_factor_reset", _("Second factors reset")),
    AuditAct("recovery_codes_renewed", _("Recovery codes renewed")),
    AuditAct("password_changed", _("Password changed"), feed=FeedLine(_("Changed the password"), "t-person")),
    AuditAct(
        "settings_changed",
        _("Settings changed"),
        feed=FeedLine(_("Changed the settings"), "t-person"),
    ),
    AuditAct("api_key_created", _("API key made"), feed=FeedLine(MADE_KEY, "t-person")),
    AuditAct("api_key_revoked", _("API key revoked"), feed=FeedLine(REVOKED_KEY, "t-bad")),
)
