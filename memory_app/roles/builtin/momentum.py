"""The skill `market.spot.momentum`: where the price goes within a day. Its single role has its id. Source: S0."""

from django.utils.translation import gettext_noop as _

from memory_app.roles.core import Trigger
from memory_app.roles.core.declarations import (
    DomainSkill,
    MemoryRole,
    NewsSnapshot,
    PriceDelta,
    RefetchSource,
    ReflectionPolicy,
)

MOMENTUM = MemoryRole(
    id="market.spot.momentum",
    label=_("Spot momentum call"),
    failure_modes=(
        _("chased a move that was already exhausted"),
        _("read one time frame and ignored the one above it"),
        _("trusted a breakout without volume"),
        _("overlooked a scheduled event inside the window"),
        _("took a move of the whole market for strength of the asset"),
    ),
    reflection_prompt="""
You called the momentum of {asset}: {direction}.
What you wrote: {decision}
Window: {window}. The price moved {pnl} in the direction of your call.
Evidence collected afterwards: {evidence}
The classifier tagged this as {type}.
Name the signal that misled you: exhaustion, the higher time frame, volume, a scheduled event, or the market as a whole.
Write one lesson of at most two sentences that says what to look at before the next momentum call.
""".strip(),
    reflection_policy=ReflectionPolicy(
        outcome_probe=PriceDelta(window_hours=24),
        min_age_hours=24,
        max_age_hours=168,
        triggers=(Trigger.CRON, Trigger.ON_PRICE_FETCH),
        cron_expr="0 * * * *",
        post_hoc_probes=(
            RefetchSource(tool="get_price", param_mapper="asset→symbol"),
            NewsSnapshot(),
        ),
    ),
)

SKILLS = (
    DomainSkill(
        id="market.spot.momentum",
        label=_("Spot momentum"),
        memory_roles=(MOMENTUM,),
    ),
)
