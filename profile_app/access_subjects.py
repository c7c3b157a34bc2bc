"""What of the app the access log names when somebody else opened it."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.access_log import AccessSubject

ACCESS_SUBJECTS = (
    AccessSubject("prompt", _("what the agent reads"), "prompt:page", parameter="session"),
    AccessSubject("conversation", _("a conversation"), "conversations:page"),
    AccessSubject("profile", _("the profile"), "profile:page"),
    AccessSubject("accounts", _("own accounts"), "activity:page"),
    AccessSubject("capital", _("capital"), "capital"),
    AccessSubject("strategy_runs", _("strategy runs"), "strategy_runs"),
    AccessSubject("activity", _("own trades"), "activity:page"),
    AccessSubject("tags", _("tags of the profile"), "tags:page"),
    AccessSubject("workspace", _("an agent file"), "workspace:one"),
)
