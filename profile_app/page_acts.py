"""What people do on the app's pages, and how they undo it."""

from django.utils.translation import gettext_lazy as _

from minara_site.web.page_acts import PageAct, UndoWhile

VERSIONS = _("The text before stays among its versions; you can go back to it.")

PAGE_ACTS = (
    PageAct("profile:warn", changes_nothing=True),
    PageAct("profile:draft", undo="profile:draft", note=_("A draft is in no prompt; you can discard it.")),
    PageAct("profile:prompt", undo="profile:restore", note=VERSIONS),
    PageAct("profile:restore", undo="profile:restore", note=VERSIONS),
    PageAct("profile:settings", undo="profile:settings", note=_("You can switch it back at any time.")),
    PageAct("profile:add_wallet", undo="profile:undo_wallets"),
    PageAct("profile:label_wallet", undo="profile:undo_wallets"),
    PageAct("profile:remove_wallet", undo="profile:undo_wallets"),
    PageAct("profile:undo_wallets", undo="profile:undo_wallets", note=_("You can undo this again.")),
    PageAct("profile:refresh", undo="jobs:cancel", lasts=UndoWhile.RUNNING),
    PageAct("activity:add", undo="activity:remove"),
    PageAct("activity:remove", undo="activity:restore", lasts=UndoWhile.TRASH),
    PageAct("activity:restore", undo="activity:remove", lasts=UndoWhile.TRASH),
    PageAct("activity:sync", undo="jobs:cancel", lasts=UndoWhile.RUNNING),
    PageAct("onboarding:step", undo="onboarding:step", note=_("You can answer again. It counts once you finish.")),
    PageAct("onboarding:preview", changes_nothing=True),
    PageAct(
        "onboarding:finish",
        undo="onboarding:undo",
        note=_("You can undo it: tags are as before, new memories go to the trash. What you change later stays."),
    ),
    PageAct("onboarding:undo", undo="onboarding:finish", note=_("Your answers are kept; you can finish again.")),
    PageAct("tags:declare", undo="tags:undo"),
    PageAct("tags:clear", undo="tags:undo"),
    PageAct("tags:confirm", undo="tags:undo"),
    PageAct("tags:undo", undo="tags:declare", note=_("You can declare or clear it again.")),
    PageAct("workspace:scaffold", undo="workspace:unscaffold", note=_("You can empty the new files again.")),
    PageAct("workspace:unscaffold", undo="workspace:scaffold", note=_("You can write them again.")),
    PageAct("workspace:save", undo="workspace:restore", note=VERSIONS),
    PageAct("workspace:restore", undo="workspace:restore", note=VERSIONS),
    PageAct("workspace:additions", undo="workspace:restore", note=VERSIONS),
    PageAct("workspace:warn", changes_nothing=True),
    PageAct("workspace:draft", undo="workspace:draft", note=_("A draft is in no prompt; you can discard it.")),
)
