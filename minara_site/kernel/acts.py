"""The kernel's acts of the audit log, room by room."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.audit_log.table import AuditAct

ACTS = (
    AuditAct("session_started", _("Session started")),
    AuditAct("turn_recorded", _("Turn recorded")),
    AuditAct("session_ended", _("Session ended")),
    AuditAct("prices_posted", _("Prices posted")),
    AuditAct("prices_imported", _("Prices imported")),
    AuditAct("price_confirmed", _("Price confirmed")),
    AuditAct("price_doubted", _("Price doubted again")),
    AuditAct("capability_switched", _("Capability switched")),
    AuditAct("breaker_reset", _("Circuit breaker closed by hand")),
    AuditAct("job_requested", _("Job asked for")),
    AuditAct("job_cancelled", _("Job run cancelled")),
    AuditAct("job_retried", _("Job run tried again")),
    AuditAct("undone", _("Undone"), changes_prompt=True),
    AuditAct("change_proposed", _("Change proposed by an agent")),
    AuditAct("proposal_approved", _("Proposed change approved")),
    AuditAct("proposal_rejected", _("Proposed change rejected")),
    AuditAct("proposal_reopened", _("Decision on a proposed change undone")),
    AuditAct("backup.made", _("Backup made")),
    AuditAct("backup.restored", _("Backup restored")),
)
