"""The console's acts of the audit log."""

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from minara_site.kernel.audit_log.table import AuditAct, FeedLine, Undo

LOADED = ngettext_lazy("Loaded a demo of %(number)s memory", "Loaded a demo of %(number)s memories", "count")

ACTS = (
    AuditAct("rescan_requested", _("New scan asked for"), undo=Undo.OPPOSITE),
    AuditAct("demo_loaded", _("Demo loaded"), undo=Undo.OPPOSITE, feed=FeedLine(LOADED, page="memories:list")),
    AuditAct("demo_removed", _("Demo removed"), undo=Undo.OPPOSITE, feed=FeedLine(_("Removed the demo"))),
    AuditAct("alert_closed", _("Alert closed"), undo=Undo.OPPOSITE),
    AuditAct("alert_reopened", _("Alert opened again"), undo=Undo.OPPOSITE),
    AuditAct("budget_cap_raised", _("Cap of the budget raised"), undo=Undo.OPPOSITE),
    AuditAct("budget_cap_cleared", _("Cap of the budget reset"), undo=Undo.OPPOSITE),
)
