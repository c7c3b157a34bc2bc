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
)
