"""What people do on the app's pages, and how they undo it."""

from django.utils.translation import gettext_lazy as _

from minara_site.web.page_acts import PageAct, UndoWhile

PAGE_ACTS = (
    PageAct("learnings:edit", undo="learnings:undo_edit"),
    PageAct("learnings:undo_edit", undo="learnings:undo_edit", note=_("You can undo this again.")),
    PageAct("learnings:delete", undo="learnings:restore", lasts=UndoWhile.TRASH),
    PageAct("learnings:restore", undo="learnings:delete", note=_("You can delete it again.")),
    PageAct("learnings:bulk", undo="learnings:restore", lasts=UndoWhile.TRASH),
    PageAct("methodologies:quarantine", undo="methodologies:undo"),
    PageAct("methodologies:bulk", undo="methodologies:undo"),
    PageAct("methodologies:release", undo="methodologies:undo"),
    PageAct("methodologies:undo", undo="methodologies:quarantine", note=_("You can quarantine it again.")),
    PageAct("methodologies:read", undo="methodologies:unread"),
    PageAct("methodologies:unread", undo="methodologies:read"),
    PageAct("cases:reveal", undo="cases:reveal_end", note=_("It ends after 15 minutes; you can end it earlier.")),
    PageAct("cases:reveal_end", undo="cases:reveal", note=_("You can reveal them again, with a reason.")),
)
