"""The app's acts of the audit log, room by room."""

from typing import Any

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from minara_site.kernel.audit_log.table import AuditAct, FeedLine, Undo

PREFERENCES, PREFERENCE = "preferences:list", "preferences:one"
PROPOSED = ngettext_lazy("Proposed %(number)s preference", "Proposed %(number)s preferences", "count")
APPROVED = ngettext_lazy("Approved %(number)s preference", "Approved %(number)s preferences", "count")
REJECTED = ngettext_lazy("Rejected %(number)s preference", "Rejected %(number)s preferences", "count")
ARCHIVED = ngettext_lazy("Archived %(number)s preference", "Archived %(number)s preferences", "count")
ACTIVATED = ngettext_lazy("Activated %(number)s hard constraint", "Activated %(number)s hard constraints", "count")
ENDED = ngettext_lazy("Archived %(number)s hard constraint", "Archived %(number)s hard constraints", "count")
STATE: Any = {"undone_by": "methodology_decide", "undone_as": "methodology_undone"}
EDITED: Any = {"undone_by": "learning_write", "undone_as": "learning_undone"}
MOVED: Any = {"undone_by": "learning_remove", "undone_as": "learning_undone"}
DECIDED: Any = {"undone_by": "preference_decide", "undone_as": "preference_undone"}

ACTS = (
    AuditAct("methodology_created", _("Methodology created"), undo=Undo.ROLL_BACK),
    AuditAct("methodology_seen_again", _("Methodology handed in again")),
    AuditAct("methodology_outcome_recorded", _("Outcome of a methodology recorded")),
    AuditAct("methodology_quarantined", _("Methodology quarantined"), undo=Undo.OPPOSITE, **STATE),
    AuditAct("methodology_released", _("Methodology released"), undo=Undo.OPPOSITE, **STATE),
    AuditAct("methodology_reviewed", _("Methodology marked as read"), undo=Undo.OPPOSITE, **STATE),
    AuditAct("methodology_unreviewed", _("Methodology marked as unread"), undo=Undo.OPPOSITE, **STATE),
    AuditAct("methodology_undone", _("Decision on a methodology undone")),
    AuditAct("methodology_demoted", _("Methodology demoted")),
    AuditAct("methodology_held", _("Methodologies held again"), undo=Undo.OPPOSITE),
    AuditAct("methodology_discarded", _("Held methodologies discarded"), undo=Undo.OPPOSITE),
    AuditAct("learning_stored", _("Learning stored"), undo=Undo.ROLL_BACK),
    AuditAct("learning_repeated", _("Learning repeated")),
    AuditAct("learning_edited", _("Guidance of a learning edited"), undo=Undo.OPPOSITE, **EDITED),
    AuditAct("learning_removed", _("Learning deleted"), undo=Undo.OPPOSITE, **MOVED),
    AuditAct("learning_restored", _("Learning restored"), undo=Undo.OPPOSITE, **MOVED),
    AuditAct("learning_undone", _("Change of a learning undone")),
    AuditAct("learning_purged", _("Learning removed permanently")),
    AuditAct("learning_held", _("Learnings held again"), undo=Undo.OPPOSITE),
    AuditAct("learning_released", _("Held learnings released"), undo=Undo.OPPOSITE),
    AuditAct("learning_discarded", _("Held learnings discarded"), undo=Undo.OPPOSITE),
    AuditAct("audit_requested", _("Learning audit requested")),
    AuditAct("finding_acknowledged", _("Findings of the learning audit acknowledged"), undo=Undo.OPPOSITE),
    AuditAct("finding_reopened", _("Findings of the learning audit opened again"), undo=Undo.OPPOSITE),
    AuditAct("institution_requested", _("Institution run requested"), undo=Undo.OPPOSITE),
    AuditAct("institution_cancelled", _("Institution run cancelled")),
    AuditAct("case_recorded", _("Trading case recorded")),
    AuditAct("case_revealed", _("Amounts of a trading case revealed"), is_write=False),
    AuditAct("case_reveal_ended", _("Reveal of a trading case ended"), is_write=False),
    AuditAct("trading_case_held", _("Trading cases held again"), undo=Undo.OPPOSITE),
    AuditAct("trading_case_released", _("Held trading cases released"), undo=Undo.OPPOSITE),
    AuditAct("trading_case_discarded", _("Held trading cases discarded"), undo=Undo.OPPOSITE),
    AuditAct(
        "preference_proposed",
        _("Preference proposed"),
        undo=Undo.ROLL_BACK,
        feed=FeedLine(PROPOSED, "", PREFERENCES, PREFERENCE),
    ),
    AuditAct("preference_repeated", _("Preference proposed again"), **DECIDED),
    AuditAct(
        "preference_approved",
        _("Preference approved"),
        undo=Undo.OPPOSITE,
        changes_prompt=True,
        **DECIDED,
        feed=FeedLine(APPROVED, "t-read", PREFERENCES, PREFERENCE),
    ),
    AuditAct(
        "preference_rejected",
        _("Preference rejected"),
        undo=Undo.OPPOSITE,
        **DECIDED,
        feed=FeedLine(REJECTED, "t-bad", PREFERENCES, PREFERENCE),
    ),
    AuditAct(
        "preference_archived",
        _("Preference archived"),
        undo=Undo.OPPOSITE,
        changes_prompt=True,
        **DECIDED,
        feed=FeedLine(ARCHIVED, "t-person", PREFERENCES, PREFERENCE),
    ),
    AuditAct("preference_undone", _("Decision on a preference undone"), changes_prompt=True),
    AuditAct(
        "constraint_activated",
        _("Hard constraint activated"),
        undo=Undo.OPPOSITE,
        changes_prompt=True,
        **DECIDED,
        feed=FeedLine(ACTIVATED, "t-read", PREFERENCES, PREFERENCE),
    ),
    AuditAct(
        "constraint_archived",
        _("Hard constraint archived"),
        undo=Undo.OPPOSITE,
        changes_prompt=True,
        **DECIDED,
        feed=FeedLine(ENDED, "t-person", PREFERENCES, PREFERENCE),
    ),
    AuditAct("preference_held", _("Preferences held again"), undo=Undo.OPPOSITE),
    AuditAct("preference_released", _("Held preferences released"), undo=Undo.OPPOSITE),
    AuditAct("preference_discarded", _("Held preferences discarded"), undo=Undo.OPPOSITE),
)
