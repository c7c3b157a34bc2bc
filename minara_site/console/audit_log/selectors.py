"""What the pages know of one act and of the chain that the log is sealed with."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from minara_site.console.jobs.selectors import UNDER_WAY
from minara_site.kernel.audit_log.chain import newest_seal, unsealed_entries
from minara_site.kernel.audit_log.models import AuditEntry, AuditSeal
from minara_site.kernel.audit_log.tasks import VERIFY
from minara_site.kernel.audit_log.verification import Finding, verify_newest
from minara_site.kernel.counts import RowCount, count_rows
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.jobs.models import JobRun, RunState

SEALED_WITHIN = timedelta(minutes=15)  # the job runs every five


@dataclass(frozen=True, slots=True)
class Chain:
    """How far the log is sealed, what the newest seal's check says now, and the last check of everything.

    `quick` is None while a check is under way, for the page asks again every two seconds.
    """

    newest: AuditSeal | None
    waiting: RowCount
    is_late: bool
    quick: Finding | None
    last: JobRun | None
    under_way: JobRun | None

    @property
    def found(self) -> Finding | None:
        """Return what the last check found; None when it did not get that far."""
        known = {field.name for field in fields(Finding)}
        said = (self.last.result if self.last else None) or {}
        result = {name: value for name, value in said.items() if name in known}
        return Finding(**result) if {"seals", "entries", "sha256"} <= result.keys() else None

    @property
    def broken(self) -> Finding | None:
        """Return the break, as the newest seal shows it or as the last check found it."""
        return next(
            (each for each in (self.quick, self.found) if each and each.broken),
            None,
        )


def load_chain(*, now: datetime) -> Chain:
    """Return the state of the chain. Six queries, and at most one batch of entries is read."""
    checks = JobRun.objects.filter(job=VERIFY).order_by("-created_at")
    under_way = checks.filter(state__in=UNDER_WAY).first()
    waiting = unsealed_entries()
    oldest = waiting.values_list("at", flat=True).first()
    return Chain(
        newest=newest_seal(),
        waiting=count_rows(waiting),
        is_late=oldest is not None and now - oldest > SEALED_WITHIN,
        quick=None if under_way else verify_newest(),
        last=checks.filter(state__in=(RunState.SUCCEEDED, RunState.FAILED)).first(),
        under_way=under_way,
    )


def get_entry(entry_id: int) -> AuditEntry:
    """Return an act. Raises NotFound."""
    return or_not_found(
        AuditEntry.objects.select_related("owner").filter(pk=entry_id).first(), _("There is no such entry.")
    )
