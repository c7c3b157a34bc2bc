"""What of the app the access log names when somebody else opened it."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.access_log import AccessSubject

ACCESS_SUBJECTS = (
    AccessSubject("trading_case", _("a trading case"), "cases:one"),
    AccessSubject("case_reveal", _("amounts of a trading case"), "cases:one"),
    AccessSubject("trading_cases", _("trading cases in a list")),
    AccessSubject("trades", _("trades in a list")),
    AccessSubject("deployment", _("a trading agent"), "ticks:deployment"),
    AccessSubject("snapshot", _("a tick of a trading agent"), "ticks:snapshot"),
    AccessSubject("deployments", _("trading agents in a list")),
    AccessSubject("reflection_note", _("lessons of a trading agent"), "lessons:one"),
    AccessSubject("lessons", _("lessons in a list"), "lessons:list"),
    AccessSubject("ledger", _("a ledger")),
    AccessSubject("trade", _("a trade"), "ticks:trade"),
    AccessSubject("trade_reveal", _("amounts of a trade"), "ticks:trade"),
    AccessSubject("own_trip", _("a trade in an own account"), "ledger:trip"),
    AccessSubject("own_trip_reveal", _("amounts of a trade in an own account"), "ledger:trip"),
    AccessSubject("institution_run", _("an institution run"), "institution:one"),
    AccessSubject("institution_runs", _("institution runs in a list"), "institution:list"),
    AccessSubject("learning", _("a learning"), "learnings:one"),
    AccessSubject("learnings", _("learnings in a list"), "learnings:list"),
    AccessSubject("preference", _("a preference"), "preferences:one"),
    AccessSubject("preferences", _("preferences in a list")),
)
