"""The kernel's acts of the audit log, room by room."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.audit_log.table import AuditAct, Undo

ACTS = (
    AuditAct("session_started", _("Session started")),
    AuditAct("turn_recorded", _("Turn recorded")),
    AuditAct("session_ended", _("Session ended")),
    AuditAct("prices_posted", _("Prices posted")),
    AuditAct("prices_imported", _("Prices imported")),
    AuditAct("capability_switched", _("Capability switched"), undo=Undo.OPPOSITE),
    AuditAct("breaker_reset", _("Circuit breaker closed by hand")),
    AuditAct("job_requested", _("Job asked for"), undo=Undo.OPPOSITE),
    AuditAct("job_cancelled", _("Job run cancelled"), undo=Undo.OPPOSITE),
    AuditAct("job_retried", _("Job run tried again"), undo=Undo.OPPOSITE),
    AuditAct("undone", _("Undone"), changes_prompt=True, undo=Undo.OPPOSITE),
    AuditAct("backup.made", _("Backup made"), is_write=False),
    AuditAct("backup.restored", _("Backup restored")),
)
