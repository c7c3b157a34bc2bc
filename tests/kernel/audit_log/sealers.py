"""What test processes do to one audit log at once, started by `Site.call`."""

import random
import time

from django.db import transaction
from django.utils import timezone

from minara_site.kernel.audit_log import seals, tasks
from minara_site.kernel.audit_log.chain import unsealed_entries
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.audit_log.verification import verify_chain
from tests.kit.racers import in_processes


def race(writers: int, sealers: int) -> str:
    """Let processes write and others seal at once; say how the chain is, how much it covers, and what waits."""
    writing = [(write_slowly, 12) for _writer in range(writers)]
    in_processes(*writing, *((seal_while_others_write, 15) for _sealer in range(sealers)))
    tasks.seal(now=timezone.now())
    finding = verify_chain()
    return f"{finding.broken} {finding.entries} {unsealed_entries().count()}"


def write_slowly(count: int) -> None:
    """Record acts in transactions that stay open for a while, so that ids are committed out of order."""
    for number in range(count):
        with transaction.atomic():
            record_audit(now=timezone.now(), actor="probe", tool_call="probe", details={"number": number})
            time.sleep(random.uniform(0, 0.02))


def seal_while_others_write(rounds: int) -> None:
    """Seal again and again, few entries at a time."""
    seals.MAX_PER_SEAL = 2
    for _round in range(rounds):
        tasks.seal(now=timezone.now())
        time.sleep(0.01)
