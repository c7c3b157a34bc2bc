"""What people do on the app's pages, and how they undo it."""

from django.utils.translation import gettext_lazy as _

from minara_site.web.page_acts import PageAct

PAGE_ACTS = (
    PageAct("methodologies:quarantine", undo="methodologies:undo"),
    PageAct("methodologies:bulk", undo="methodologies:undo"),
    PageAct("methodologies:release", undo="methodologies:undo"),
    PageAct("methodologies:undo", undo="methodologies:quarantine", note=_("You can quarantine it again.")),
    PageAct("methodologies:read", undo="methodologies:unread"),
    PageAct("methodologies:unread", undo="methodologies:read"),
    PageAct("cases:reveal", undo="cases:reveal_end", note=_("It ends after 15 minutes; you can end it earlier.")),
    PageAct("cases:reveal_end", undo="cases:reveal", note=_("You can reveal them again, with a reason.")),
)
