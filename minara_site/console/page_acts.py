"""What people do on the pages of the console and of their account, and how they undo it."""

from django.utils.translation import gettext_lazy as _

from minara_site.console.demo.labels import WORD as DEMO_WORD
from minara_site.kernel.governance.table import load_capabilities
from minara_site.web.page_acts import PageAct, UndoWhile

RUNNING = UndoWhile.RUNNING
HELD_AGAIN = _("You can undo this, and hold it again later.")
BY_SIGNING_IN = _("Signing in again undoes it.")

PAGE_ACTS = (
    PageAct("undo", undo="undo", note=_("You can undo this again.")),
    # Signing in, and the account
    PageAct("account_login", undo="account_logout"),
    PageAct("account_logout", undo="account_login", note=BY_SIGNING_IN),
    PageAct("account_reauthenticate", undo="account_logout"),
    PageAct("mfa_authenticate", undo="account_logout"),
    PageAct("access:passkey_sign_in", undo="account_logout"),
    PageAct("access:passkey_options", changes_nothing=True),
    PageAct("access:passkey_new_options", changes_nothing=True),
    PageAct("access:claim", undo="access:password"),
    PageAct("access:accept_invitation", undo="access:password"),
    PageAct("access:password", undo="access:password"),
    PageAct("access:app", undo="access:factor_remove"),
    PageAct("access:passkey_new", undo="access:factor_remove"),
    PageAct("access:factor_remove", word="remove"),
    PageAct("access:codes", word="replace"),
    PageAct("access:sign_in_end", undo="account_login", note=BY_SIGNING_IN),
    PageAct("access:sign_ins_end", undo="account_login", note=BY_SIGNING_IN),
    PageAct("access:key_new", undo="access:key_revoke"),
    PageAct("access:key_revoke", word="revoke"),
    PageAct("web:theme", undo="web:theme"),
    PageAct("console:settings", undo="console:settings"),
    PageAct("console:first_step", undo="console:first_steps_again"),
    PageAct("console:first_steps_again", undo="console:first_step"),
    # People
    PageAct("users:invite", undo="users:withdraw_link", note=_("You can withdraw the link until it is used.")),
    PageAct("users:new_link", undo="users:withdraw_link", note=_("You can withdraw the link until it is used.")),
    PageAct("users:withdraw_link", undo="users:new_link", note=_("You can make another link at any time.")),
    PageAct("users:role", undo="users:role", note=_("The former account type can be given back here.")),
    PageAct("users:disable", word="disable"),
    PageAct("users:enable", undo="users:disable"),
    PageAct("users:end_sessions", undo="account_login", note=_("They sign in again with their password.")),
    PageAct("users:reset_factor", word="reset"),
    PageAct("users:key_revoke", word="revoke"),
    # Operations
    PageAct("jobs:start", undo="jobs:cancel", lasts=RUNNING),
    PageAct("jobs:cancel", undo="jobs:retry", note=_("You can retry it later.")),
    PageAct("jobs:retry", undo="jobs:cancel", lasts=RUNNING),
    PageAct("audit_log:check", undo="jobs:cancel", lasts=RUNNING),
    PageAct("scan_rules:page", changes_nothing=True),
    PageAct("scan_rules:rescan", undo="jobs:cancel", lasts=RUNNING),
    PageAct("budgets:raise", undo="budgets:clear", note=_("You can reset the cap at any time.")),
    PageAct("budgets:clear", undo="budgets:raise", note=_("You can raise the cap again at any time.")),
    PageAct("prices:confirm", undo="prices:doubt"),
    PageAct("prices:doubt", undo="prices:confirm"),
    PageAct("governance:close", undo="governance:model_calls"),
    *(PageAct(f"governance:{name}", undo=f"governance:{name}") for name in load_capabilities()),
    PageAct("console:demo_load", undo="console:demo_remove"),
    PageAct("console:demo_remove", word=DEMO_WORD),
    # What waits for a person
    PageAct("held:release", undo="held:undo", note=HELD_AGAIN),
    PageAct("held:let_in", undo="held:undo", note=HELD_AGAIN),
    PageAct("held:discard", undo="held:undo", note=HELD_AGAIN),
    PageAct("held:bulk", undo="held:undo", note=HELD_AGAIN),
    PageAct("quarantine:verdict", undo="quarantine:undo"),
    PageAct("quarantine:undo", undo="quarantine:verdict"),
    PageAct("quarantine:claim", undo="quarantine:claim", note=_("A claim ends by itself after 5 minutes.")),
    PageAct("held:again", undo="held:release"),
    PageAct("held:undo", undo="held:release"),
    PageAct("inbox:close", undo="inbox:reopen"),
    PageAct("inbox:reopen", undo="inbox:close"),
)
