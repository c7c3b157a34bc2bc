"""The table `agent_state`: what the next tick of a deployment must know of those before it. Source: S4."""

from django.db import models

from learning_app.ledger.models import Deployment
from minara_site.kernel.fields import amount_field


class AgentState(models.Model):
    """Where a deployment stands after its last tick; every window counts from that tick, never from a clock.

    `start_equity_usd` is that of the first tick. `marks` are the last ones by symbol. `day` is the UTC date to which
    `day_start_equity_usd`, `executed_today` and `pnl_today_usd` (net of fees) belong. `closed_since_note` counts trades
    closed since the newest note, `note_id`.
    `lessons_hash` names what the next decision reads, None for no lessons, "(held)" where their words are held. Where
    two notes take turns they do since the tick `turns_from`, the other is `other_note_id`, and `openings` counts since.
    """

    deployment = models.OneToOneField(Deployment, on_delete=models.CASCADE, primary_key=True, related_name="state")
    tick_at = models.DateTimeField(null=True)
    equity_usd = amount_field(null=True)
    start_equity_usd = amount_field(null=True)
    marks = models.JSONField(default=dict)
    day = models.DateField(null=True)
    day_start_equity_usd = amount_field(null=True)
    executed_today = models.PositiveIntegerField(default=0)
    pnl_today_usd = amount_field(default=0)
    losing_closes = models.PositiveIntegerField(default=0)
    closed_since_note = models.PositiveIntegerField(default=0)
    note_id = models.BigIntegerField(null=True)
    other_note_id = models.BigIntegerField(null=True)
    turns_from = models.DateTimeField(null=True)
    lessons_hash = models.CharField(max_length=16, null=True)
    openings = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "agent_state"
