"""What a fix is: a dry run that shows what it would do, and the repair with its line in the audit log.

The line `doctor.fix.<name>` is written in the transaction of the fix's first change, so that after a crash at any
point there is a change if and only if there is a line; a run that is taken up again finds its line and writes no
second one. A fix that had nothing to do leaves its line too, alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.doctor.core import Text
from minara_site.kernel.jobs.services import DROPPED, Claim

TOOL_CALL = "doctor.fix."
SAMPLE = 10
UNKNOWN_COST = "unknown"


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a fix would do: counts by name, and some of the ids of memories that it is about.

    `cost_usd` is what asking a model may cost, UNKNOWN_COST where that has no price, empty for a fix that asks none.
    """

    counts: dict[str, int]
    sample: tuple[int, ...] = ()
    cost_usd: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it would do nothing."""
        return not any(self.counts.values())


def is_left(counts: Mapping[str, object]) -> bool:
    """Say whether a fix that counted this did nothing because another run was at its work."""
    return counts.keys() == {DROPPED}


@dataclass
class FixAudit:
    """The one line that a fix leaves in the audit log. `run` is the number of the job's run, or a command's own."""

    name: str
    actor: str
    run: int | str
    now: datetime
    is_written: bool = False

    def write(self) -> None:
        """Write the line unless it stands; call it in the transaction of a change."""
        if not self.is_written:
            record_audit(
                now=self.now,
                actor=self.actor,
                tool_call=f"{TOOL_CALL}{self.name}",
                details={"run": self.run},
            )
            self.is_written = True

    def find(self, *, since: datetime) -> None:
        """Look whether an earlier attempt of the same run, not before `since`, wrote the line."""
        lines = AuditEntry.objects.filter(
            at__gte=since,
            tool_call=f"{TOOL_CALL}{self.name}",
            details__run=self.run,
        )
        self.is_written = lines.exists()

    def close(self) -> None:
        """Write the line of a fix that had nothing to do."""
        with transaction.atomic():
            self.write()


@dataclass(frozen=True, slots=True)
class Fix:
    """One repair. A default one runs when nobody names any."""

    name: str
    label: Text
    summary: Text
    dry_run: Callable[[Claim | None], DryRun]
    apply: Callable[[FixAudit, Claim | None], dict[str, int]]
    is_default: bool = True
