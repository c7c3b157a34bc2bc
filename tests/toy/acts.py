"""The acts on notes in the audit log."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.audit_log.table import AuditAct

ACTS = (
    AuditAct("note_written", _("Note written")),
    AuditAct(
        "notes_archived",
        _("Notes archived"),
        undone_by="memory_remove",
        undone_as="notes_unarchived",
    ),
    AuditAct("notes_unarchived", _("Archiving of notes undone")),
    AuditAct("note_held", _("Notes held again by a new scan")),
    AuditAct("note_released", _("Held notes released")),
    AuditAct("note_discarded", _("Held notes discarded")),
)
