"""One run of a rebuild: what is new is read, asked about once, and written with its cursors, or nothing is.

A question that was asked moves the cooldown, whatever comes of it; only what was written moves cursors (R-11, R-12).
Where no question is asked neither moves. Nothing declared, typed by a person or held is touched (R-34).
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from pydantic import BaseModel

from minara_site.access.models import User
from minara_site.kernel.changes.services import store_set
from minara_site.kernel.errors import Refused, Throttled, Unavailable
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.services import record_shadow
from minara_site.kernel.jobs.owner_schedule import nudge, nudge_all, one_run
from minara_site.kernel.jobs.services import DROPPED
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.gateway import (
    AnswerInvalid,
    BudgetExceededError,
    CapabilityOff,
    CircuitOpen,
    ModelNotConfigured,
    Question,
    UnknownModelPrice,
    ask,
)
from minara_site.kernel.ownership import lock_owner
from profile_app.capabilities import REBUILDS
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.profile import load_profile
from profile_app.portrait.services.profile import get_locked
from profile_app.rebuild.core import REBUILT, Flow, RunOutcome
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import why_not
from profile_app.rebuild.services import memories, summary, tags
from profile_app.rebuild.services.work import Work, Written

READS: dict[Flow, Callable[..., Work[Any] | None]] = {
    Flow.SUMMARY: summary.read,
    Flow.TAGS: tags.read,
    Flow.MEMORIES: memories.read,
}
NOT_ASKED = (ModelNotConfigured, UnknownModelPrice, BudgetExceededError, CapabilityOff, CircuitOpen)
FAILED = (AnswerInvalid, Unavailable, Throttled, Refused)
RETRY = timedelta(hours=1)
"""When to look again where there is something to ask and nobody to ask."""
NOTHING = "nothing_new"

log = structlog.get_logger(__name__)


def cooldown_of(flow: Flow) -> timedelta:
    """Return how long a flow rests after a question."""
    milliseconds = {
        Flow.SUMMARY: settings.MINARA.trading_summary_cooldown_ms,
        Flow.TAGS: settings.MINARA.tags_cooldown_ms,
        Flow.MEMORIES: settings.MINARA.memories_cooldown_ms,
    }
    return timedelta(milliseconds=milliseconds[flow])


def rebuild_on_boot(*, now: datetime) -> None:
    """Ask for every rebuild of every owner, each after its cooldown, where REBUILD_ON_BOOT; once a start."""
    if settings.MINARA.rebuild_on_boot:
        owners = list(User.objects.filter(is_active=True).values_list("pk", flat=True))
        for flow in Flow:
            nudge_all(flow.job, owners, now=now)


def rebuild(
    flow: Flow,
    *,
    owner_id: int,
    now: datetime,
    is_forced: bool = False,
    requested_by: str = "schedule",
) -> dict[str, Any] | None:
    """Run a flow for an owner; forced, cooldown and threshold do not count, and a run says why it did not ask."""
    owner = User.objects.filter(pk=owner_id).first()
    if owner is None:
        return None
    with one_run(flow.job, owner_id, now=now) as schedule:
        if schedule is None:
            return {"result": DROPPED}
        RebuildRun.objects.filter(owner=owner, flow=flow, outcome=RunOutcome.RUNNING).update(
            outcome=RunOutcome.LOST, ended_at=now
        )
        profile = load_profile(owner_id)
        rests_until = getattr(profile, flow.next_column)
        if rests_until and rests_until > now and not is_forced:
            schedule.next_at = rests_until
            return {"result": "cooldown"}
        reason = why_not()
        work = None if reason else READS[flow](owner, profile, now=now, is_forced=is_forced)
        about = {"owner": owner, "flow": flow, "requested_by": requested_by, "started_at": now}
        if work is None:
            schedule.next_at = now + RETRY if reason else None
            if is_forced:
                RebuildRun.objects.create(**about, outcome=RunOutcome.NOT_ASKED, reason=reason or NOTHING, ended_at=now)
            return {"result": reason or NOTHING}
        run = RebuildRun.objects.create(**about, read=work.read, cursors_before=work.before)
        ask_and_write(run, work, now=now)
        schedule.next_at = now + RETRY if run.outcome == RunOutcome.NOT_ASKED else next_moment(run, work, now=now)
    return {"run": run.pk, "outcome": run.outcome, **({"reason": run.reason} if run.reason else {})}


def next_moment(run: RebuildRun, work: Work[Any], *, now: datetime) -> datetime | None:
    """Return when the flow is due again: after its cooldown with something left, else when something happens."""
    is_over = run.outcome in {RunOutcome.WRITTEN, RunOutcome.UNCHANGED} and not work.has_more
    return None if is_over else now + cooldown_of(Flow(run.flow))


def ask_and_write(run: RebuildRun, work: Work[Any], *, now: datetime) -> None:
    """Ask the one question of a run and write what counts of the answer."""
    flow = Flow(run.flow)
    question = Question(
        category=Category.LEARNING,
        task=flow.job,
        tier=Tier.FAST,
        system=work.system,
        content=work.content,
        answer=work.answer,
        max_tokens=work.max_tokens,
        subject=run.subject,
        owner_id=run.owner_id,
    )
    try:
        answer = ask(question)
    except NOT_ASKED as stop:
        end_run(run, RunOutcome.NOT_ASKED, now=now, reason=stop.problem_code)
        return
    except FAILED as stop:
        with transaction.atomic():
            rest(run, now=now)
            end_run(run, RunOutcome.FAILED, now=now, reason=stop.problem_code)
        log.warning("rebuild_failed", owner=run.owner_id, flow=flow, reason=stop.problem_code)
        return
    with transaction.atomic():
        profile = rest(run, now=now)
        if mode_of(REBUILDS) is not Mode.ON:
            record_shadow(
                capability=REBUILDS,
                subject=run.subject,
                owner_id=run.owner_id,
                decision=shadow_of(answer.value),
                model=answer.model,
                cost_usd=answer.cost_usd,
                now=now,
            )
            end_run(run, RunOutcome.SHADOW, now=now)
            return
        written: Written = work.write(run, answer.value, now=now)
        for column, value in work.after.items():
            setattr(profile, column, value)
        profile.save(update_fields=[*work.after, "updated_at"])
        run.wrote, run.dropped = list(written.lines), dict(written.dropped)
        run.cursors_after = {column: value for column, value in work.after.items() if column in work.before}
        if written.steps:
            store_set(written.steps, act=REBUILT, actor=flow.actor, at=now, run=run.subject)
        end_run(run, RunOutcome.WRITTEN if written.steps else RunOutcome.UNCHANGED, now=now)
    for other in work.wakes:
        nudge(other.job, run.owner_id, now=now)


def shadow_of(value: BaseModel) -> dict[str, Any]:
    """Return what a run in shadow mode would have used."""
    return value.model_dump(mode="json")


def rest(run: RebuildRun, *, now: datetime) -> FinancialProfile:
    """Move the cooldown of a flow; return the locked profile. Needs a transaction."""
    lock_owner(run.owner_id)
    profile = get_locked(run.owner_id, now)
    column = Flow(run.flow).next_column
    setattr(profile, column, now + cooldown_of(Flow(run.flow)))
    profile.updated_at = now
    profile.save(update_fields=[column, "updated_at"])
    return profile


def end_run(run: RebuildRun, outcome: RunOutcome, *, now: datetime, reason: str = "") -> None:
    """Store how a run ended."""
    run.outcome, run.reason, run.ended_at = outcome, reason, now
    run.save()
