"""What people do on the app's pages, and how they undo it."""

from django.utils.translation import gettext_lazy as _

from minara_site.web.page_acts import PageAct, UndoWhile

UNDOABLE = (
    "learnings:edit",
    "learnings:restore",
    "methodologies:quarantine",
    "methodologies:bulk",
    "methodologies:release",
    "methodologies:read",
    "methodologies:unread",
    "preferences:approve",
    "preferences:reject",
    "preferences:bulk",
    "preferences:archive",
)
"""What these change is recorded, and undone where every act is."""

PAGE_ACTS = (
    *(PageAct(name, undo="undo") for name in UNDOABLE),
    PageAct("audit:run", undo="jobs:cancel", lasts=UndoWhile.RUNNING),
    PageAct("audit:acknowledge", undo="audit:reopen"),
    PageAct("audit:reopen", undo="audit:restore"),
    PageAct("audit:restore", undo="audit:reopen"),
    PageAct("learnings:delete", undo="undo", lasts=UndoWhile.TRASH),
    PageAct("learnings:bulk", undo="undo", lasts=UndoWhile.TRASH),
    PageAct("preferences:propose", undo="preferences:reject", note=_("You can reject the proposal.")),
    PageAct("preferences:count", changes_nothing=True),
    PageAct("preferences:activate", undo="preferences:archive_constraint", note=_("You can archive it the same way.")),
    PageAct("preferences:archive_constraint", undo="preferences:activate", note=_("You can activate it the same way.")),
    PageAct("institution:start", undo="institution:cancel", lasts=UndoWhile.RUNNING),
    PageAct(
        "institution:cancel",
        undo="institution:start",
        note=_("The run ends without a decision. What its roles said stays; you can start another run."),
    ),
    PageAct("ticks:deployment", undo="undo"),
    PageAct("ticks:note", undo="undo"),
    PageAct("ledger:note_trip", undo="undo"),
    PageAct("cases:note", undo="undo"),
    PageAct("cases:reveal", undo="cases:reveal_end", note=_("It ends after 15 minutes; you can end it earlier.")),
    PageAct("cases:reveal_end", undo="cases:reveal", note=_("You can reveal them again, with a reason.")),
    PageAct("ticks:reveal", undo="ticks:reveal_end", note=_("It ends after 15 minutes; you can end it earlier.")),
    PageAct("ticks:reveal_end", undo="ticks:reveal", note=_("You can reveal them again, with a reason.")),
    PageAct(
        "ledger:reveal_trip",
        undo="ledger:reveal_trip_end",
        note=_("It ends after 15 minutes; you can end it earlier."),
    ),
    PageAct("ledger:reveal_trip_end", undo="ledger:reveal_trip", note=_("You can reveal them again, with a reason.")),
)
