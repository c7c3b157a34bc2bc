"""Reads of the doctor's runs."""

from django.utils.translation import gettext as _

from minara_site.kernel.doctor.core import FIX
from minara_site.kernel.doctor.fixes import Fix
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.registry import load

SHOWN = 5


def fixes() -> dict[str, Fix]:
    """Return every fix by its name, in the order in which they are done."""
    return load("fixes")


def list_fix_runs() -> list[JobRun]:
    """Return the newest runs, dry and applied."""
    return list(JobRun.objects.filter(job=FIX).order_by("-created_at", "-pk")[:SHOWN])


def get_fix_run(run_id: int) -> JobRun:
    """Return a run of the doctor's job. Raises NotFound."""
    return or_not_found(JobRun.objects.filter(pk=run_id, job=FIX).first(), _("There is no such run."))
