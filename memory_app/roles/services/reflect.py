"""The reflector: one sweep over the pending entries of a role, alone among all processes. Sources: S0, trust R-01.

Whoever finds another sweep of the same role at work drops theirs. Every model call is made with no transaction open,
and what came of it is written once, only while the lease is held: a sweep that is killed, or that lost its lease,
leaves entries that the next one takes up where they stand.
"""

import time
from collections.abc import Iterator
from datetime import datetime

import structlog
from django.db.models import F, Q
from django.utils.translation import gettext as _

from memory_app.capabilities import ROLE_REFLECTION
from memory_app.roles.core import Classification, SkipReason, Trigger
from memory_app.roles.core.declarations import DeclaredRole
from memory_app.roles.core.sweep import Ended, Sweep, SweepResult
from memory_app.roles.due import due_of
from memory_app.roles.models import RoleMemory, RoleMemoryQuerySet, RoleState
from memory_app.roles.probes import ProbeFailed, find_outcome
from memory_app.roles.registry import registry
from memory_app.roles.selectors import subject_of
from memory_app.roles.services import closing, stages
from memory_app.roles.services.outcome import apply_due_marks, set_outcome
from memory_app.roles.services.stages import Reply
from memory_app.roles.services.sweeping import Clock, LeaseLost, Sweeping
from memory_app.roles.services.triggers import REFLECT, request_sweep, widest_of
from minara_site.kernel.errors import MinaraError, or_not_found
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import has_shadow, mode_of
from minara_site.kernel.governance.services import record_shadow
from minara_site.kernel.jobs.leases import kept_lease
from minara_site.kernel.jobs.services import Cancelled, Claim, report_progress, request_run
from minara_site.kernel.jobs.time_budget import TimeBudget
from minara_site.kernel.llm.gateway import AnswerInvalid
from minara_site.kernel.market.outcome import Outcome

LEASE_SECONDS = 30
SLICE = 25
TELL_SECONDS = 0.5
TIME_BUDGET_SECONDS = 60  # of one run

log = structlog.get_logger(__name__)


def reflect_role(
    role_id: str,
    *,
    trigger: Trigger,
    owner_id: int | None = None,
    is_rest: bool = False,
    claim: Claim | None = None,
    now: datetime,
) -> Sweep:
    """Reflect on what is due of a role, of all owners or of one; a job that had its turn asks for a run of the rest.

    Raises NotFound for a role that no skill declares (any more): its entries stay as they are.
    """
    declared = get_role(role_id)
    mode = mode_of(ROLE_REFLECTION)
    if mode is Mode.OFF:
        return Sweep(SweepResult.OFF, {}, _("The reflection of roles is switched off."))
    apply_due_marks(now=now)
    with kept_lease(lease_name(role_id), seconds=LEASE_SECONDS, now=now) as lease:
        if lease is None:
            count_drop(role_id)
            return Sweep(SweepResult.DROPPED, {})
        budget = TimeBudget.start(TIME_BUDGET_SECONDS) if claim else TimeBudget()
        run = Sweeping(
            declared,
            trigger,
            owner_id,
            mode,
            lease,
            Clock(now),
            is_rest,
            budget,
        )
        ended = sweep_noted(run, claim)
    if ended.result is SweepResult.CONTINUED:
        continue_later(run)
    log.info(
        "role_reflected",
        role=role_id,
        trigger=trigger.value,
        result=ended.result.value,
        **ended.counts,
    )
    return ended


def get_role(role_id: str) -> DeclaredRole:
    """Return a declared role. Raises NotFound."""
    return or_not_found(registry().find(role_id), _("No skill declares this role."))


def lease_name(role_id: str) -> str:
    """Return the name of a role's lock."""
    return f"role:{role_id}"


def continue_later(run: Sweeping) -> None:
    """Ask for a run of what is left. The lease is free again by now, so that it will not be dropped."""
    owner = {} if run.owner_id is None else {"owner_id": run.owner_id}
    arguments = {
        "role_id": run.declared.id,
        "trigger": run.trigger.value,
        "is_rest": True,
        **owner,
    }
    request_run(
        REFLECT,
        arguments,
        now=run.clock.read(),
        requested_by=f"job:{REFLECT}",
    )


def count_drop(role_id: str) -> None:
    """Count a second caller, who is no error (R-02)."""
    state = RoleState.objects.filter(pk=role_id)
    if not state.update(dropped=F("dropped") + 1):
        RoleState.objects.get_or_create(role_id=role_id)
        state.update(dropped=F("dropped") + 1)


def sweep_noted(run: Sweeping, claim: Claim | None) -> Sweep:
    """Sweep, and keep of the role when and how. Raises what `report_progress` raises."""
    begin = {"last_trigger": run.trigger.value, "last_triggered_at": run.clock.now}
    state, _is_new = RoleState.objects.update_or_create(role_id=run.declared.id, defaults=begin)
    try:
        ended = sweep(run, claim)
    except LeaseLost:
        ended = Sweep(
            SweepResult.LOST,
            run.end().counts,
            _("Another sweep has taken this one's place."),
        )
    except Cancelled:
        note_end(
            run,
            Sweep(
                SweepResult.STOPPED,
                run.end().counts,
                _("A person stopped the run."),
            ),
        )
        raise
    finally:
        closing.publish_closed(run)
        rerun(run, state.dropped)
    note_end(run, ended)
    return ended


def rerun(run: Sweeping, dropped: int) -> None:
    """Request a sweep of everybody when one was dropped for the sweep of a single owner, which did not do its work."""
    if run.owner_id is None or not run.policy.triggers:
        return
    if RoleState.objects.filter(pk=run.declared.id, dropped__gt=dropped).exists():
        request_sweep(run.declared.id, widest_of(run.policy.triggers))


def note_end(run: Sweeping, ended: Sweep) -> None:
    """Keep what came of the sweep."""
    RoleState.objects.filter(pk=run.declared.id).update(
        last_finished_at=run.clock.read(),
        last_result=ended.as_dict(),
        last_error=ended.reason[: closing.MAX_ERROR_CHARS],
    )


def sweep(run: Sweeping, claim: Claim | None) -> Sweep:
    """Go over everything that is due once, oldest first. Raises LeaseLost, and what `report_progress` raises."""
    if not run.is_shadow:
        run.counts[Ended.SKIPPED] += closing.skip_old(
            run.declared,
            owner_id=run.owner_id,
            now=run.clock.now,
        )
    done, total, told = 0, due_in(run).count(), time.monotonic()
    report_progress(claim, 0, total)
    for rows in slices(run):
        for entry in rows:
            run.check_lease()
            run.counts[take(run, entry)] += 1
            done += 1
            if run.is_time_spent:
                break
            if time.monotonic() - told >= TELL_SECONDS:
                told = time.monotonic()
                closing.publish_closed(run)
                report_progress(claim, done, total)
        closing.flush(run)
        if mode_of(ROLE_REFLECTION) is not run.mode:
            run.stopped = run.stopped or _("The reflection of roles was switched meanwhile.")
            break
        if run.is_time_spent:
            break
    report_progress(claim, done, total)
    return run.end(is_continued=run.is_time_spent and done < total)


def due_in(run: Sweeping) -> RoleMemoryQuerySet:
    """Return what the sweep looks at; of a rest what no run put off."""
    trigger = Trigger.CRON if run.is_rest else run.trigger
    return due_of(
        run.declared,
        trigger=trigger,
        owner_id=run.owner_id,
        now=run.clock.now,
    )


def slices(run: Sweeping) -> Iterator[list[RoleMemory]]:
    """Yield what is due slice by slice, each entry once; in shadow without what ran in shadow mode before."""
    rows, last = due_in(run).prefetch_related("owner").order_by("decided_at", "pk"), None
    while True:
        behind = rows
        if last is not None:
            later = Q(decided_at__gt=last.decided_at) | Q(decided_at=last.decided_at, pk__gt=last.pk)
            behind = rows.filter(later, decided_at__gte=last.decided_at)
        found: list[RoleMemory] = list(behind[:SLICE])
        if not found:
            return
        last = found[-1]
        if run.is_shadow:
            decided = has_shadow(ROLE_REFLECTION, [subject_of(entry.pk) for entry in found])
            found = [entry for entry in found if subject_of(entry.pk) not in decided]
        yield found


def take(run: Sweeping, entry: RoleMemory) -> Ended:
    """Look what came of a decision, and close it or reflect on it. Raises LeaseLost."""
    if entry.outcome is None:
        try:
            found = find_outcome(entry, run.declared, now=run.clock.read())
        except ProbeFailed as error:
            closing.defer(run, entry, error.detail)
            return Ended.FAILED
        if found is None:
            return closing.defer(run, entry)
        if isinstance(found, SkipReason):
            return Ended.UNKNOWN if run.is_shadow else closing.skip_one(run, entry, found)
        set_outcome(entry, found)
    if entry.outcome == Outcome.RIGHT:
        return keep_shadow(run, entry) if run.is_shadow else closing.close_right(run, entry)
    return Ended.LEFT if run.stopped else reflect(run, entry)


def reflect(run: Sweeping, entry: RoleMemory) -> Ended:
    """Run the stages over an entry. When no model can be asked, none is asked again in this sweep."""
    try:
        return run_stages(run, entry)
    except AnswerInvalid as error:
        log.warning("role_answer_invalid", entry_id=entry.pk)
        return closing.note_failure(run, entry, error.detail)
    except MinaraError as error:
        log.warning(
            "role_reflection_stopped",
            entry_id=entry.pk,
            code=error.problem_code,
        )
        run.stopped = error.detail
        return Ended.LEFT


def run_stages(run: Sweeping, entry: RoleMemory) -> Ended:
    """Classify, draw the lesson where there is one, and write it all at once. Raises what the gateway raises."""
    now = run.clock.read()
    evidence = stages.gather(entry, run.declared, now=now)
    case = stages.case_of(entry, run.declared, evidence, now=now)
    replies: list[Reply] = []
    if entry.classification is None:
        classification, first = stages.classify(entry, case)
        replies.append(first)
        entry.evidence = [piece.as_json() for piece in evidence]
        entry.classification, entry.narrative, entry.stage1_usage_id = classification, first.text, first.usage_id
        if classification.is_trainable and not run.is_shadow and not closing.keep_stage_one(run, entry):
            return Ended.CHANGED
    classification = Classification(entry.classification)
    if classification.is_trainable:
        run.check_lease()
        second = stages.draw_lesson(entry, run.declared, case, classification, entry.narrative)
        replies.append(second)
        entry.lesson, entry.stage2_usage_id = second.text, second.usage_id
    return keep_shadow(run, entry, *replies) if run.is_shadow else closing.close_reflected(run, entry)


def keep_shadow(run: Sweeping, entry: RoleMemory, *replies: Reply) -> Ended:
    """Keep what would have been written, and write none of it."""
    record_shadow(
        capability=ROLE_REFLECTION,
        subject=subject_of(entry.pk),
        owner_id=entry.owner_id,
        decision={
            "outcome": entry.outcome,
            "pnl_pct": entry.pnl_pct,
            "class": entry.classification,
            "narrative": entry.narrative,
            "lesson": entry.lesson,
        },
        model=replies[-1].model if replies else "",
        cost_usd=sum((reply.cost_usd for reply in replies), start=stages.NOTHING),
        now=run.clock.read(),
    )
    return Ended.SHADOWED
