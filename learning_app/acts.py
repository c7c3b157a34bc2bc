"""The app's acts of the audit log, room by room."""

from typing import Any

from django.utils.translation import gettext_lazy as _, ngettext_lazy

from minara_site.kernel.audit_log.table import AuditAct, FeedLine

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
    AuditAct("methodology_created", _("Methodology created")),
    AuditAct("methodology_seen_again", _("Methodology handed in again")),
    AuditAct("methodology_outcome_recorded", _("Outcome of a methodology recorded")),
    AuditAct("methodology_quarantined", _("Methodology quarantined"), **STATE),
    AuditAct("methodology_released", _("Methodology released"), **STATE),
    AuditAct("methodology_reviewed", _("Methodology marked as read"), **STATE),
    AuditAct("methodology_unreviewed", _("Methodology marked as unread"), **STATE),
    AuditAct("methodology_undone", _("Decision on a methodology undone")),
    AuditAct("methodology_demoted", _("Methodology demoted")),
    AuditAct("methodology_held", _("Methodologies held again")),
    AuditAct("methodology_discarded", _("Held methodologies discarded")),
    AuditAct("learning_stored", _("Learning stored")),
    AuditAct("learning_repeated", _("Learning repeated")),
    AuditAct("learning_edited", _("Guidance of a learning edited"), **EDITED),
    AuditAct("learning_removed", _("Learning deleted"), **MOVED),
    AuditAct("learning_restored", _("Learning restored"), **MOVED),
    AuditAct("learning_undone", _("Change of a learning undone")),
    AuditAct("learning_purged", _("Learning removed permanently")),
    AuditAct("learning_held", _("Learnings held again")),
    AuditAct("learning_released", _("Held learnings released")),
    AuditAct("learning_discarded", _("Held learnings discarded")),
    AuditAct("audit_requested", _("Learning audit requested")),
    AuditAct("finding_acknowledged", _("Findings of the learning audit acknowledged")),
    AuditAct("finding_reopened", _("Findings of the learning audit opened again")),
    AuditAct("institution_requested", _("Institution run requested")),
    AuditAct("institution_cancelled", _("Institution run cancelled")),
    AuditAct("case_recorded", _("Trading case recorded")),
    AuditAct("case_revealed", _("Amounts of a trading case revealed")),
    AuditAct("case_reveal_ended", _("Reveal of a trading case ended")),
    AuditAct("trading_case_held", _("Trading cases held again")),
    AuditAct("trading_case_released", _("Held trading cases released")),
    AuditAct("trading_case_discarded", _("Held trading cases discarded")),
    AuditAct("trade_recorded", _("Trade recorded")),
    AuditAct("trade_closed", _("Trade closed")),
    AuditAct("trade_revealed", _("Amounts of a trade revealed")),
    AuditAct("trade_reveal_ended", _("Reveal of a trade ended")),
    AuditAct("own_note_kept", _("Own note written"), undone_by="note_write", undone_as="own_note_undone"),
    AuditAct("own_note_undone", _("Own note undone")),
    AuditAct("query_trade_history", _("Trade history read")),
    AuditAct("trade_held", _("Trades held again")),
    AuditAct("trade_released", _("Held trades released")),
    AuditAct("trade_discarded", _("Held trades discarded")),
    AuditAct("deployment_created", _("Trading agent deployed")),
    AuditAct(
        "deployment_changed",
        _("Skill of a trading agent changed"),
        undone_by="deployment_change",
        undone_as="deployment_undone",
    ),
    AuditAct("deployment_undone", _("Change of a trading agent's skill undone")),
    AuditAct("decision_snapshot_held", _("Decisions of trading agents held again")),
    AuditAct("decision_snapshot_released", _("Held decisions of trading agents released")),
    AuditAct("decision_snapshot_discarded", _("Held decisions of trading agents discarded")),
    AuditAct("skill_version_held", _("Skills of trading agents held again")),
    AuditAct("skill_version_released", _("Held skills of trading agents released")),
    AuditAct("skill_version_discarded", _("Held skills of trading agents discarded")),
    AuditAct("reflection_note_held", _("Lessons held again")),
    AuditAct("reflection_note_released", _("Held lessons released")),
    AuditAct("reflection_note_discarded", _("Held lessons discarded")),
    AuditAct(
        "preference_proposed",
        _("Preference proposed"),
        feed=FeedLine(PROPOSED, "", PREFERENCES, PREFERENCE),
    ),
    AuditAct("preference_repeated", _("Preference proposed again"), **DECIDED),
    AuditAct(
        "preference_approved",
        _("Preference approved"),
        changes_prompt=True,
        **DECIDED,
        feed=FeedLine(APPROVED, "t-read", PREFERENCES, PREFERENCE),
    ),
    AuditAct(
        "preference_rejected",
        _("Preference rejected"),
        **DECIDED,
        feed=FeedLine(REJECTED, "t-bad", PREFERENCES, PREFERENCE),
    ),
    AuditAct(
        "preference_archived",
        _("Preference archived"),
        changes_prompt=True,
        **DECIDED,
        feed=FeedLine(ARCHIVED, "t-person", PREFERENCES, PREFERENCE),
    ),
    AuditAct("preference_corrected", _("Preference corrected"), **DECIDED),
    AuditAct("preference_undone", _("Decision on a preference undone"), changes_prompt=True),
    AuditAct(
        "constraint_activated",
        _("Hard constraint activated"),
        changes_prompt=True,
        **DECIDED,
        feed=FeedLine(ACTIVATED, "t-read", PREFERENCES, PREFERENCE),
    ),
    AuditAct(
        "constraint_archived",
        _("Hard constraint archived"),
        changes_prompt=True,
        **DECIDED,
        feed=FeedLine(ENDED, "t-person", PREFERENCES, PREFERENCE),
    ),
    AuditAct("preference_held", _("Preferences held again")),
    AuditAct("preference_released", _("Held preferences released")),
    AuditAct("preference_discarded", _("Held preferences discarded")),
)
