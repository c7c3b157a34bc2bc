"""The console's acts of the audit log."""

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from minara_site.kernel.audit_log.table import AuditAct, FeedLine

LOADED = ngettext_lazy("Loaded a demo of %(number)s memory", "Loaded a demo of %(number)s memories", "count")

ACTS = (
    AuditAct("rescan_requested", _("New scan asked for")),
    AuditAct("demo_loaded", _("Demo loaded"), feed=FeedLine(LOADED, page="memories:list")),
    AuditAct("demo_removed", _("Demo removed"), feed=FeedLine(_("Removed the demo"))),
    AuditAct("alert_closed", _("Alert closed")),
    AuditAct("alert_reopened", _("Alert opened again")),
    AuditAct("budget_cap_raised", _("Cap of the budget raised")),
    AuditAct("budget_cap_cleared", _("Cap of the budget reset")),
)
