"""The kernel's own jobs, room by room."""

from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.audit_log import tasks as audit_log
from minara_site.kernel.backup.selectors import MAKE, get_every
from minara_site.kernel.backup.tasks import make
from minara_site.kernel.changes.services import APPLY, apply_set
from minara_site.kernel.guard.rescan import rescan
from minara_site.kernel.idempotency import tasks as idempotency
from minara_site.kernel.jobs import tasks as jobs
from minara_site.kernel.jobs.table import Job
from minara_site.kernel.limits import tasks as limits
from minara_site.kernel.llm import tasks as llm
from minara_site.kernel.market import tasks as market

JOBS = (
    Job(
        audit_log.SEAL,
        audit_log.seal,
        every=timedelta(minutes=5),
        reports=True,
        summary=_("Seals what the audit log has gained, so that no one can change it unseen."),
    ),
    Job(
        audit_log.VERIFY,
        audit_log.verify,
        every=timedelta(days=1),
        settles=True,
        reports=True,
        summary=_("Recomputes every seal of the audit log and names the first that does not fit."),
    ),
    Job(
        "idempotency.forget",
        idempotency.delete_expired,
        every=timedelta(hours=1),
        summary=_("Forgets the answers that were kept for a day, for calls that are sent twice."),
    ),
    Job(
        "limits.delete_ended",
        limits.delete_ended,
        every=timedelta(hours=1),
        summary=_("Forgets counters of limits whose time is over."),
    ),
    Job(
        "budget.delete_expired",
        llm.delete_expired,
        every=timedelta(hours=1),
        summary=_("Deletes what was reserved for model calls that never ended; it stopped counting after 15 minutes."),
    ),
    Job(
        market.FETCH,
        market.fetch,
        every=market.FETCH_EVERY,
        reports=True,
        summary=_("Fetches the candles that have closed, from MARKET_SOURCE."),
    ),
    Job(
        "guard.rescan",
        rescan,
        every=timedelta(minutes=10),
        reports=True,
        summary=_("Judges again what was stored under other guard rules and holds what they refuse now."),
    ),
    Job(APPLY, apply_set, reports=True, summary=_("Carries out an undo of many rows, in slices.")),
    Job(
        "jobs.forget",
        jobs.delete_expired,
        every=timedelta(days=1),
        summary=_("Forgets runs of jobs that ended 90 days ago; the newest of each job stays."),
    ),
    Job(MAKE, make, every=get_every(), summary=_("Writes a backup to MINARA_BACKUP_DIR, keeps MINARA_BACKUPS_KEPT.")),
)
