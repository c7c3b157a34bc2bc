"""Quarantines the methodologies that lost too often, by the rule of the ladder. S1's demotion: it never graduates."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from learning_app.methodologies.services.demote import demote_fallen, list_fallen
from learning_app.vocabulary import LifecycleKind
from memory_app.doctor.fixes.names import FixName
from minara_site.kernel.doctor.fixes import TOOL_CALL, DryRun, Fix, FixAudit
from minara_site.kernel.jobs.services import Claim


def dry_run(claim: Claim | None) -> DryRun:
    """Count what fell below the demotion threshold and is still in prompts."""
    return DryRun({"demoted": list_fallen().count()})


def apply(audit: FixAudit, claim: Claim | None) -> dict[str, int]:
    """Quarantine it, in one transaction."""
    with transaction.atomic():
        reason = f"{TOOL_CALL}{audit.name}"
        demoted = demote_fallen(
            actor=audit.actor,
            now=audit.now,
            kind=LifecycleKind.DEMOTED,
            reason=reason,
        )
        if demoted:
            audit.write()
    return {"demoted": demoted}


METHODOLOGY_DEMOTION = Fix(
    FixName.METHODOLOGY_DEMOTION,
    _("Demotion of methodologies"),
    _("Quarantines the methodologies that were wrong too often. It never ends a quarantine."),
    dry_run,
    apply,
)
