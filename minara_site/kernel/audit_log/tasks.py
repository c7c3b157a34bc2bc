"""What the worker does for the audit log: it seals what is new, and checks the seals."""

from dataclasses import asdict
from datetime import datetime

import structlog
from django.utils import timezone

from minara_site.kernel.audit_log.chain import unsealed_entries
from minara_site.kernel.audit_log.seals import find_settled_id, seal_next
from minara_site.kernel.audit_log.verification import verify_chain
from minara_site.kernel.jobs.services import Claim, fail_run, report_progress, settle_run

SEAL = "audit_log.seal"
VERIFY = "audit_log.verify"

log = structlog.get_logger(__name__)


def seal(*, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Seal everything that is settled by now; running it again seals nothing more."""
    seals, entries, up_to = 0, 0, find_settled_id()
    if up_to is None:
        return {"seals": 0, "entries": 0}
    waiting = unsealed_entries().filter(id__lte=up_to).count()
    while made := seal_next(up_to=up_to, now=now):
        seals, entries = seals + 1, entries + made.entries
        report_progress(claim, entries, waiting)
    return {"seals": seals, "entries": entries}


def verify(*, now: datetime, claim: Claim) -> None:
    """Check every seal. The run fails when one is broken, so that operators see it wherever they look."""
    finding = verify_chain(claim=claim)
    if finding.broken is None:
        settle_run(claim, result=asdict(finding), now=timezone.now())
        return
    log.error("audit_chain_broken", seal=finding.seal_id, how=finding.broken)
    fail_run(
        claim,
        error=finding.sentence,
        result=asdict(finding),
        now=timezone.now(),
    )
