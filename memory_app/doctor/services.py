"""Runs of fixes: look what they would do, or do it; as a job for the page, at once for the command."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.utils.translation import gettext as _

from memory_app.doctor.selectors import fixes
from minara_site.access.principal import Principal
from minara_site.kernel.doctor.core import FIX
from minara_site.kernel.doctor.fixes import DryRun, FixAudit, is_left
from minara_site.kernel.errors import FieldError, Invalid
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import Claim, request_run


def choose_fixes(names: Iterable[str]) -> list[str]:
    """Return the named fixes in the order of the table, those of S1's default set when nobody names any.

    Raises Invalid for a name that this version does not have.
    """
    wanted = {name.strip() for name in names if name.strip()}
    if not wanted:
        return [name for name, fix in fixes().items() if fix.is_default]
    if unknown := sorted(wanted - set(fixes())):
        known = {"name": unknown[0], "names": ", ".join(fixes())}
        problem = _("There is no fix %(name)s. Choose from: %(names)s.") % known
        raise Invalid(
            problem,
            errors=(FieldError("only", problem),),
            code="unknown_fix",
        )
    return [name for name in fixes() if name in wanted]


def dry_run_fixes(names: Sequence[str], *, claim: Claim | None = None) -> dict[str, DryRun]:
    """Return what each fix would do; nothing is changed."""
    return {name: fixes()[name].dry_run(claim) for name in names}


def apply_fixes(
    names: Sequence[str],
    *,
    actor: str,
    now: datetime,
    claim: Claim | None = None,
) -> dict[str, dict[str, int]]:
    """Carry the fixes out and return what each changed. Raises ProviderDown."""
    return {name: apply_fix(name, actor=actor, now=now, claim=claim) for name in names}


def apply_fix(
    name: str,
    *,
    actor: str,
    now: datetime,
    claim: Claim | None = None,
) -> dict[str, int]:
    """Carry one fix out, with its line in the audit log; return what it changed. Raises ProviderDown."""
    audit = FixAudit(
        name,
        actor,
        claim.run_id if claim else uuid4().hex,
        now,
    )
    if claim and claim.attempt > 1:  # a run that is taken up again may have written the line
        audit.find(since=JobRun.objects.values_list("created_at", flat=True).get(pk=claim.run_id))
    done = fixes()[name].apply(audit, claim)
    if not is_left(done):
        audit.close()
    return done


def ask_for_fixes(
    *,
    principal: Principal,
    names: Sequence[str],
    apply: bool,
    now: datetime,
) -> JobRun:
    """Ask for a run that looks what the fixes would do or, with `apply`, does it."""
    arguments: dict[str, Any] = {
        "names": list(names),
        "apply": apply,
        "actor": principal.actor,
    }
    return request_run(FIX, arguments, now=now, requested_by=principal.actor)
