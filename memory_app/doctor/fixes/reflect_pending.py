"""Reflects on the decisions that are due. S1's one fix that calls a model: only when somebody names it.

It adds first reflections and rewrites none (R-20). Models are asked with no transaction open, so the audit line is
written before the first sweep: after a crash there may be a line without a change, never a change without its line.
"""

from collections import Counter
from decimal import ROUND_UP, Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy

from memory_app.doctor.fixes.names import FixName
from memory_app.roles.core import Trigger
from memory_app.roles.core.sweep import SweepResult
from memory_app.roles.registry import registry
from memory_app.roles.services.reflect import reflect_role
from memory_app.roles.services.requests import estimate_reflection
from minara_site.kernel.doctor.fixes import UNKNOWN_COST, DryRun, Fix, FixAudit
from minara_site.kernel.jobs.services import DROPPED, Claim
from minara_site.kernel.llm.budget import usd_label

MICRO_DOLLAR = Decimal("0.000001")


def dry_run(claim: Claim | None) -> DryRun:
    """Count what is due in every role, and estimate what asking the model about it may cost. Asks nobody."""
    now = timezone.now()
    estimates = [estimate_reflection(declared.id, None, now=now) for declared in registry().all()]
    counts = {
        "due": sum(each.due for each in estimates),
        "roles": sum(1 for each in estimates if each.due),
    }
    costs = [each.cost_usd for each in estimates if each.cost_usd is not None]
    is_known = len(costs) == len(estimates)
    cost = sum(costs, start=Decimal()).quantize(MICRO_DOLLAR, rounding=ROUND_UP)
    return DryRun(counts, cost_usd=usd_label(cost) if is_known else UNKNOWN_COST)


def apply(audit: FixAudit, claim: Claim | None) -> dict[str, int]:
    """Reflect on every role with due decisions, one after the other; return how many ended how.

    A role that somebody reflects on now is left to them, and counted as `dropped`; where no model can be asked, its
    decisions are `left`.
    """
    counts: Counter[str] = Counter()
    for declared in registry().all():
        now = timezone.now()
        if estimate_reflection(declared.id, None, now=now).due:
            with transaction.atomic():
                audit.write()
            ended = reflect_role(
                declared.id,
                trigger=Trigger.MANUAL,
                claim=claim,
                now=now,
            )
            counts.update({DROPPED: 1} if ended.result is SweepResult.DROPPED else ended.counts)
    return dict(counts)


REFLECT_PENDING = Fix(
    FixName.REFLECT_PENDING,
    gettext_lazy("Reflections"),
    gettext_lazy("Reflects on the decisions that are due. It asks the model; the dry run says what that costs."),
    dry_run,
    apply,
    is_default=False,
)
