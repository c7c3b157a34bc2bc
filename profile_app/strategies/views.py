"""`/ops/internals/strategy-runs/`: activations of strategies, for operators alone. Source: screens."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Act
from minara_site.shell.lists import OwnedList
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column
from profile_app.strategies.models import StrategyRun

STRATEGY_RUNS = OwnedList(
    spec=ListSpec(
        name="strategy-runs",
        caption=_("Strategy runs"),
        row="profile_app/strategies/_row.html",
        columns=(
            Column(_("Owner")),
            Column(_("Strategy")),
            Column(_("Markets")),
            Column(_("Capital"), numeric=True),
            Column(_("State")),
            Column(_("Result"), numeric=True),
            time_column(_("Started")),
        ),
        sorts=by_time("started_at"),
        has_actions=False,
        empty=Empty("method", _("No strategy runs yet"), _("Agents report them when a strategy is switched on.")),
    ),
    act=Act.INTERNALS_READ,
    kind="strategy_runs",
    rows=StrategyRun.objects.for_owner,
    own=_("Strategy runs"),
    of=_("Strategy runs of %(owner)s"),
    begins_with_all=True,
)
strategy_runs_page = STRATEGY_RUNS.as_page()
