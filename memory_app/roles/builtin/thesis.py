"""The skill `analysis.thesis`: why to own something at all. A person says whether the thesis held."""

from django.utils.translation import gettext_noop as _

from memory_app.roles.core import Trigger
from memory_app.roles.core.declarations import DomainSkill, Manual, MemoryRole, NewsSnapshot, ReflectionPolicy

REVIEW = MemoryRole(
    id="analysis.thesis.review",
    label=_("Review of a thesis"),
    failure_modes=(
        _("kept a thesis after its premise had failed"),
        _("set no condition that would prove it wrong"),
        _("weighed news that confirmed it more than news that did not"),
        _("mixed the quality of the asset with the price paid for it"),
    ),
    reflection_prompt="""
You reviewed a thesis and decided whether it still holds.
What you wrote: {decision}
Window: {window}. Result that a person noted: {pnl}.
Evidence collected afterwards: {evidence}
The classifier tagged this as {type}.
Name the premise that failed, or the evidence that was missing when you reviewed it.
Write one lesson of at most two sentences for the next review of a thesis.
""".strip(),
    reflection_policy=ReflectionPolicy(
        outcome_probe=Manual(),
        min_age_hours=24,
        max_age_hours=2160,
        triggers=(Trigger.CRON, Trigger.ON_NEW_WRITE),
        cron_expr="15 * * * *",
        post_hoc_probes=(NewsSnapshot(),),
    ),
)

SKILLS = (DomainSkill(id="analysis.thesis", label=_("Investment thesis"), memory_roles=(REVIEW,)),)
