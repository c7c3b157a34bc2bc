"""The skill `analysis.valuation`: its worth, and its course beside its peers. Source: S0's examples."""

from django.utils.translation import gettext_noop as _

from memory_app.roles.core import Trigger
from memory_app.roles.core.declarations import (
    Custom,
    DomainSkill,
    MemoryRole,
    PriceDelta,
    RefetchSource,
    ReflectionPolicy,
)
from memory_app.roles.probes.relative import RELATIVE_PERFORMANCE

TARGET_PRICE = MemoryRole(
    id="analysis.valuation.target_price",
    label=_("Target price call"),
    failure_modes=(
        _("anchored to the recent price"),
        _("ignored macro headwinds"),
        _("chose comparable companies that had already won"),
        _("used one multiple where the business has several"),
        _("set no catalyst that would close the gap in time"),
    ),
    reflection_prompt="""
You issued a target price for {asset}, direction {direction}.
What you wrote: {decision}
Window: {window}. The price moved {pnl} in the direction of your call.
Evidence collected afterwards: {evidence}
The classifier tagged this as {type}.
Name the step of the valuation that failed: the anchor, the comparables, the multiple, the macro view or the catalyst.
Write one lesson of at most two sentences that says what to check before the next target price.
""".strip(),
    reflection_policy=ReflectionPolicy(
        outcome_probe=PriceDelta(window_hours=168),
        min_age_hours=168,
        max_age_hours=720,
        triggers=(Trigger.CRON, Trigger.ON_PRICE_FETCH),
        cron_expr="0 6 * * *",
        post_hoc_probes=(RefetchSource(tool="get_price", param_mapper="asset→symbol"),),
    ),
)

PEER_COMP = MemoryRole(
    id="analysis.valuation.peer_comp",
    label=_("Comparison with peers"),
    failure_modes=(
        _("compared with peers of another size or market"),
        _("took a gap in valuation for a mispricing"),
        _("overlooked an event that concerned one peer alone"),
        _("confused the sector's move with the asset's own"),
    ),
    reflection_prompt="""
You compared {asset} with {peers}, direction {direction} against them.
What you wrote: {decision}
Window: {window}. Against the mean of its peers it moved {pnl} in the direction of your call.
Evidence collected afterwards: {evidence}
The classifier tagged this as {type}.
Name what was wrong with the comparison: the choice of peers, the reading of the gap, or an event of a single peer.
Write one lesson of at most two sentences that says how to compare better next time.
""".strip(),
    reflection_policy=ReflectionPolicy(
        outcome_probe=Custom(probe_id=RELATIVE_PERFORMANCE),
        min_age_hours=720,
        max_age_hours=1440,
        triggers=(Trigger.CRON,),
        cron_expr="30 6 * * *",
        post_hoc_probes=(RefetchSource(tool="get_price", param_mapper="asset→symbol"),),
    ),
)

SKILLS = (
    DomainSkill(
        id="analysis.valuation",
        label=_("Valuation"),
        memory_roles=(TARGET_PRICE, PEER_COMP),
    ),
)
