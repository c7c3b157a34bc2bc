"""What people do on the app's pages, and how they undo it."""

from django.utils.translation import gettext_lazy as _

from minara_site.web.page_acts import PageAct, UndoWhile

PAGE_ACTS = (
    PageAct("audit:run", undo="jobs:cancel", lasts=UndoWhile.RUNNING),
    PageAct("audit:acknowledge", undo="audit:reopen"),
    PageAct("audit:reopen", undo="audit:restore"),
    PageAct("audit:restore", undo="audit:reopen"),
    PageAct("learnings:edit", undo="undo"),
    PageAct("learnings:delete", undo="undo", lasts=UndoWhile.TRASH),
    PageAct("learnings:restore", undo="undo"),
    PageAct("learnings:bulk", undo="undo", lasts=UndoWhile.TRASH),
    PageAct("methodologies:quarantine", undo="undo"),
    PageAct("methodologies:bulk", undo="undo"),
    PageAct("methodologies:release", undo="undo"),
    PageAct("methodologies:read", undo="undo"),
    PageAct("methodologies:unread", undo="undo"),
    PageAct("preferences:propose", undo="preferences:reject", note=_("You can reject the proposal.")),
    PageAct("preferences:count", changes_nothing=True),
    PageAct("preferences:approve", undo="undo"),
    PageAct("preferences:reject", undo="undo"),
    PageAct("preferences:bulk", undo="undo"),
    PageAct("preferences:archive", undo="undo"),
    PageAct("preferences:activate", undo="preferences:archive_constraint", note=_("You can archive it the same way.")),
    PageAct("preferences:archive_constraint", undo="preferences:activate", note=_("You can activate it the same way.")),
    PageAct("institution:start", undo="institution:cancel", lasts=UndoWhile.RUNNING),
    PageAct("institution:cancel", word="cancel"),
    PageAct("cases:reveal", undo="cases:reveal_end", note=_("It ends after 15 minutes; you can end it earlier.")),
    PageAct("cases:reveal_end", undo="cases:reveal", note=_("You can reveal them again, with a reason.")),
)
