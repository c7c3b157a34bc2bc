"""What the worker does for memories: the purge of the refresh tick, and the memories of active preferences.

Sources: S1 (soft delete, learned_preference), decisions (delete, preferences).
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.db import connections
from django.utils.translation import gettext as _

from memory_app.index.documents import optimize_index
from memory_app.memories.selectors import retention_cutoff
from memory_app.memories.services import bridge_preference, purge_expired
from memory_app.user_profile.services import purge_removed_values
from minara_site.kernel import db
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Unavailable
from minara_site.kernel.guard.kinds import purge_discarded
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.kernel.jobs.services import Claim

PURGE = "memories.purge_expired"


def purge(*, now: datetime, claim: Claim | None = None) -> dict[str, int]:
    """Remove what is past its retention, from the files too; running it again removes nothing more.

    Raises Unavailable, so that it is tried again, while a reader keeps the write-ahead log from being emptied.
    """
    cutoff = retention_cutoff(now)
    purged = purge_discarded(cutoff=cutoff) + purge_expired(now=now, claim=claim) + purge_removed_values(cutoff=cutoff)
    if purged or is_cleaning_due():
        optimize_index()
        if not all(db.checkpoint(alias) for alias in connections):
            raise Unavailable(_("A long read keeps the write-ahead log. The files are cleaned at the next try."))
    return {"purged": purged}


def bridge_preferences(*, ids: Sequence[int], now: datetime) -> dict[str, int]:
    """Bring the memories of these preferences in step with them, one short transaction each; repeating changes nothing.

    Return what was done to how many.
    """
    done = Counter(bridge_preference(each, now=now) for each in ids)
    done.pop("", None)
    return dict(done)


def is_cleaning_due() -> bool:
    """Say whether rows were purged by a run that did not get to clean the files."""
    newest = AuditEntry.objects.filter(tool_call="memory_purged").order_by("-at").values_list("at", flat=True).first()
    if newest is None:
        return False
    cleaned = JobRun.objects.filter(
        job=PURGE,
        state=RunState.SUCCEEDED,
        finished_at__gte=newest,
    )
    return not cleaned.exists()
