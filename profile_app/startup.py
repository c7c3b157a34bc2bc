"""What the app starts with every process."""

from minara_site.kernel.events import external_spot_recorded, perps_fills_recorded, trade_recorded
from profile_app.activity.listeners import on_trade_recorded
from profile_app.rebuild.tasks import nudge_summary


def start() -> None:
    """Let trades ask for a sync and for a rebuild of the summary."""
    trade_recorded.connect(on_trade_recorded, dispatch_uid="activity.sync")
    for event in (trade_recorded, perps_fills_recorded, external_spot_recorded):
        event.connect(nudge_summary, dispatch_uid="rebuild.summary")
