"""The app's acts of the audit log, room by room."""

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from minara_site.kernel.audit_log.table import AuditAct, FeedLine

LIST, TRASH, ONE, PROFILE = "memories:list", "memories:trash", "memories:one", "user_profile:page"
WROTE = ngettext_lazy("Wrote %(number)s memory", "Wrote %(number)s memories", "count")
IMPORTED = ngettext_lazy("Imported %(number)s memory", "Imported %(number)s memories", "count")
EDITED = ngettext_lazy("Edited %(number)s memory", "Edited %(number)s memories", "count")
REVERTED = ngettext_lazy("Took %(number)s edit back", "Took %(number)s edits back", "count")
DELETED = ngettext_lazy("Deleted %(number)s memory", "Deleted %(number)s memories", "count")
RESTORED = ngettext_lazy("Restored %(number)s memory", "Restored %(number)s memories", "count")
PURGED = ngettext_lazy("Removed %(number)s memory for good", "Removed %(number)s memories for good", "count")
SET = ngettext_lazy("Set %(number)s value of the user profile", "Set %(number)s values of the user profile", "count")
REMOVED = ngettext_lazy(
    "Removed %(number)s value of the user profile",
    "Removed %(number)s values of the user profile",
    "count",
)
ROLLED_BACK = ngettext_lazy("Rolled %(number)s row back", "Rolled %(number)s rows back", "count")
UNDONE = ngettext_lazy("Undid the roll-back of %(number)s row", "Undid the roll-back of %(number)s rows", "count")

ACTS = (
    AuditAct(
        "memory_write",
        _("Memory written"),
        changes_prompt=True,
        feed=FeedLine(WROTE, "t-read", LIST, ONE),
    ),
    AuditAct("memory_read", _("Memory read by an agent")),
    AuditAct("memory_search", _("Memory searched by an agent")),
    AuditAct("memory_compiled_page", _("Page of an asset read by an agent")),
    AuditAct(
        "memory_import",
        _("Memories imported"),
        changes_prompt=True,
        feed=FeedLine(IMPORTED, "t-read", LIST),
    ),
    AuditAct("constraints_approved", _("Hard constraints of an import approved")),
    AuditAct(
        "memory_import.signed",
        _("File of a signed export imported or rejected"),
        changes_prompt=True,
    ),
    AuditAct(
        "memory_import.unsigned",
        _("File of an unsigned export imported or rejected"),
        changes_prompt=True,
    ),
    AuditAct("bundle_exported", _("Memories exported")),
    AuditAct("transfer_removed", _("File of an export or import removed")),
    AuditAct("export_downloaded", _("Export downloaded")),
    AuditAct(
        "memory_edited",
        _("Memory edited"),
        changes_prompt=True,
        feed=FeedLine(EDITED, "t-person", LIST, ONE),
    ),
    AuditAct(
        "memory_reverted",
        _("Memory reverted to an older version"),
        changes_prompt=True,
        feed=FeedLine(REVERTED, "t-person", LIST, ONE),
    ),
    AuditAct("memory_held", _("Memories held again"), changes_prompt=True),
    AuditAct("memory_released", _("Held memories released"), changes_prompt=True),
    AuditAct("memory_discarded", _("Held memories discarded")),
    AuditAct(
        "memory_removed",
        _("Memories deleted"),
        changes_prompt=True,
        feed=FeedLine(DELETED, "t-bad", TRASH),
        undone_by="memory_remove",
        undone_as="memory_restored",
    ),
    AuditAct(
        "memory_restored",
        _("Memories restored"),
        changes_prompt=True,
        feed=FeedLine(RESTORED, "t-good", LIST),
        undone_by="memory_remove",
        undone_as="memory_removed",
    ),
    AuditAct("memory_kept", _("Memory kept as its owner's word"), changes_prompt=True, undone_by="memory_write"),
    AuditAct("memory_corrected", _("Memory corrected"), undone_by="memory_remove"),
    AuditAct("memory_retired", _("Fact retired"), changes_prompt=True),
    AuditAct("memory_unretired", _("Fact in use again"), changes_prompt=True),
    AuditAct(
        "fact_conflict_kept_both",
        _("Both memories of a conflict kept"),
        changes_prompt=True,
        undone_by="facts_change",
        undone_as="fact_conflict_reopened",
    ),
    AuditAct("fact_conflict_reopened", _("Contradiction opened again"), changes_prompt=True),
    AuditAct("memory_repeated", _("Memory written again by its writer")),
    AuditAct("fact_decision_refused", _("Decision on facts refused")),
    AuditAct("memory_purged", _("Memories removed for good"), feed=FeedLine(PURGED, "t-bad")),
    AuditAct(
        "user_profile_set",
        _("Value of the user profile set"),
        changes_prompt=True,
        feed=FeedLine(SET, "t-person", PROFILE),
    ),
    AuditAct(
        "user_profile_removed",
        _("Value of the user profile removed"),
        changes_prompt=True,
        feed=FeedLine(REMOVED, "t-bad", PROFILE),
    ),
    AuditAct("user_profile_held", _("Values of the user profile held again"), changes_prompt=True),
    AuditAct(
        "user_profile_released",
        _("Held values of the user profile released"),
        changes_prompt=True,
    ),
    AuditAct("user_profile_discarded", _("Held values of the user profile discarded")),
    AuditAct("write_rollback", _("Writes rolled back"), feed=FeedLine(ROLLED_BACK, "t-bad", TRASH)),
    AuditAct("write_rollback_undone", _("Roll-back undone"), feed=FeedLine(UNDONE, "t-person", LIST)),
    AuditAct("doctor.fix.embeddings", _("Doctor embedded what waited")),
    AuditAct("doctor.fix.edges", _("Doctor added missing edges")),
    AuditAct("doctor.fix.search_index", _("Doctor mended the search index")),
    AuditAct("doctor.fix.methodology_demotion", _("Doctor quarantined methodologies that lost too often")),
    AuditAct("doctor.fix.reflect_pending", _("Doctor reflected what waited")),
    AuditAct("role_decision_recorded", _("Decision of a role recorded")),
    AuditAct("role_outcome_marked", _("Outcome of a decision marked")),
    AuditAct("role_outcome_undone", _("Mark of an outcome undone")),
    AuditAct("role_outcome_applied", _("Marked outcome made final")),
    AuditAct("role_decision_held", _("Decisions of roles held again")),
    AuditAct("role_decision_released", _("Held decisions of roles released")),
    AuditAct("role_decision_discarded", _("Held decisions of roles discarded")),
    AuditAct("role_lesson_held", _("Lessons held again")),
    AuditAct("role_lesson_released", _("Held lessons released")),
    AuditAct("role_lesson_discarded", _("Held lessons discarded")),
    AuditAct("reflection_requested", _("Reflection of a role asked for")),
)
