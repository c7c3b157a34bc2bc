"""What the app starts with every process."""

from minara_site.kernel.events import external_spot_recorded, perps_fills_recorded, trade_recorded
from profile_app.activity.services.sync import on_trade_recorded
from profile_app.capital.services import nudge_capital
from profile_app.rebuild.tasks import nudge_summary
from profile_app.strategies.services import nudge_markets


def start() -> None:
    """Let trades ask for a sync and for a rebuild of the summary."""
    trade_recorded.connect(on_trade_recorded, dispatch_uid="activity.sync")
    for nudge in (nudge_markets, nudge_capital):
        perps_fills_recorded.connect(nudge, dispatch_uid=nudge.__name__)
    for event in (trade_recorded, perps_fills_recorded, external_spot_recorded):
        event.connect(nudge_summary, dispatch_uid="rebuild.summary")
