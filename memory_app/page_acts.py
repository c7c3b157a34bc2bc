"""What people do on the app's pages, and how they undo it."""

from django.utils.translation import gettext_lazy as _

from minara_site.web.page_acts import PageAct, UndoWhile

RUNNING, TRASH = UndoWhile.RUNNING, UndoWhile.TRASH
IN_HISTORY = _("What it says now stays in its history; you can go back to it.")
BY_RULE = _("It only adds what follows from what is stored. You can cancel it until it ends.")

PAGE_ACTS = (
    PageAct("memories:new", undo="memories:delete", note=_("You can delete it again.")),
    PageAct("memories:count", changes_nothing=True),
    PageAct("memories:edit", undo="memories:revert", note=IN_HISTORY),
    PageAct("memories:revert", undo="memories:revert", note=IN_HISTORY),
    PageAct("memories:delete", undo="undo", lasts=TRASH),
    PageAct("memories:bulk", undo="undo", lasts=TRASH),
    PageAct("memories:restore", undo="undo"),
    PageAct("memories:keep", undo="undo"),
    PageAct("memories:make_hard", undo="preferences:reject", note=_("You can reject the proposal.")),
    PageAct("facts:decide", undo="facts:undo"),
    PageAct("facts:override", undo="facts:undo"),
    PageAct("facts:undo", undo="facts:decide"),
    PageAct("user_profile:warn", changes_nothing=True),
    PageAct("user_profile:add", undo="user_profile:remove"),
    PageAct("user_profile:edit", undo="user_profile:undo"),
    PageAct("user_profile:remove", undo="user_profile:undo"),
    PageAct("user_profile:undo", undo="user_profile:remove"),
    PageAct("roles:reflect", undo="jobs:cancel", lasts=RUNNING),
    PageAct("role_memory:mark", undo="role_memory:undo", lasts=UndoWhile.SHORT),
    PageAct("role_memory:undo", undo="role_memory:mark"),
    PageAct("embeddings:backfill", undo="jobs:cancel", lasts=RUNNING),
    PageAct("doctor:look", undo="jobs:cancel", lasts=RUNNING),
    PageAct("doctor:apply", undo="jobs:cancel", lasts=RUNNING, note=BY_RULE),
    PageAct("writes:apply", undo="writes:undo"),
    PageAct("brought_in:seen", undo="brought_in:seen", note=_("The notice can be shown again.")),
    PageAct("brought_in:roll_back", undo="brought_in:undo"),
    PageAct("brought_in:undo", undo="brought_in:roll_back"),
    PageAct("writes:undo", undo="writes:apply", note=_("The writer can be rolled back again.")),
    PageAct(
        "bundle:exports",
        undo="bundle:export_remove",
        note=_("You can remove the file; it goes by itself after a day."),
    ),
    PageAct("bundle:export_remove", undo="bundle:exports", note=_("You can ask for another export.")),
    PageAct(
        "bundle:imports",
        undo="bundle:import_remove",
        note=_("You can remove the upload; it goes by itself after a day."),
    ),
    PageAct("bundle:import_remove", undo="bundle:imports", note=_("You can choose the file again.")),
    PageAct("bundle:constraints", word="hard constraints"),
    PageAct("bundle:apply", undo="writes:apply", note=_("An operator can roll the import back as a whole.")),
)
