"""One run of a rebuild: what is new is read, asked about once, and written with its cursors, or nothing is.

A question that was asked moves the cooldown, whatever comes of it; only what was written moves cursors (R-11, R-12).
Where no question is asked neither moves. Nothing declared, typed by a person or held is touched (R-34).
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from minara_site.access.models import User
from minara_site.kernel.changes.core import Step
from minara_site.kernel.changes.kinds import changes_of
from minara_site.kernel.changes.services import store_set
from minara_site.kernel.errors import MinaraError
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.services import record_shadow
from minara_site.kernel.jobs.owner_schedule import nudge, nudge_all, one_run
from minara_site.kernel.jobs.services import DROPPED
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.gateway import (
    Answer,
    AnswerInvalid,
    ModelUnavailable,
    Question,
    Tier,
    ask,
)
from profile_app.capabilities import REBUILDS
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.profile import load_profile
from profile_app.portrait.services.profile import lock_profile
from profile_app.rebuild.core import REBUILT, Flow, ModelAnswer, RunOutcome
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import why_not
from profile_app.rebuild.services import memories, summary, tags
from profile_app.rebuild.services.work import Work

READS: dict[Flow, Callable[..., Work | None]] = {
    Flow.SUMMARY: summary.read,
    Flow.TAGS: tags.read,
    Flow.MEMORIES: memories.read,
}
RETRY = timedelta(hours=1)
"""When to look again where there is something to ask and nobody to ask."""

log = structlog.get_logger(__name__)


def cooldown_of(flow: Flow) -> timedelta:
    """Return how long a flow rests after a question, by its setting (`trading_summary_cooldown_ms` and its like)."""
    return timedelta(milliseconds=getattr(settings.MINARA, f"{flow}_cooldown_ms"))


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
    with one_run(flow.job, owner_id, now=now) as schedule:
        if schedule is None:
            return {"result": DROPPED}
        owner = schedule.owner
        cut_off = RebuildRun.objects.filter(owner=owner, flow=flow, outcome=RunOutcome.RUNNING)
        cut_off.update(outcome=RunOutcome.LOST, ended_at=now)
        profile = load_profile(owner_id)
        rests_until = getattr(profile, flow.next_column)
        if rests_until and rests_until > now and not is_forced:
            schedule.next_at = rests_until
            return {"result": "cooldown"}
        reason = why_not()
        work = None if reason else READS[flow](owner, profile, now=now, is_forced=is_forced)
        run = RebuildRun(owner=owner, flow=flow, requested_by=requested_by, started_at=now)
        if work is None:
            schedule.next_at = now + RETRY if reason else None
            run.outcome, run.reason, run.ended_at = RunOutcome.NOT_ASKED, reason or "nothing_new", now
            if is_forced:
                run.save()
            return {"result": run.reason}
        run.read, run.cursors_before = work.read, work.before
        run.save()
        ask_and_write(run, work, now=now)
        if run.outcome == RunOutcome.NOT_ASKED:
            schedule.next_at = now + RETRY
        elif work.has_more or run.outcome in {RunOutcome.FAILED, RunOutcome.SHADOW}:
            schedule.next_at = now + cooldown_of(flow)
    return {"run": run.pk, "outcome": run.outcome, **({"reason": run.reason} if run.reason else {})}


def ask_and_write(run: RebuildRun, work: Work, *, now: datetime) -> None:
    """Ask the one question of a run and write what counts of the answer, with cooldown and cursors."""
    flow, answer = Flow(run.flow), None
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
    except (AnswerInvalid, ModelUnavailable) as failure:
        run.outcome, run.reason = RunOutcome.FAILED, failure.problem_code
        log.warning("rebuild_failed", owner=run.owner_id, flow=flow, reason=run.reason)
    except MinaraError as stop:  # no key, no price, no budget, switched off, or at rest: the model was not reached
        run.outcome, run.reason = RunOutcome.NOT_ASKED, stop.problem_code
    run.ended_at = now
    with transaction.atomic():
        if run.outcome != RunOutcome.NOT_ASKED:
            lock_profile(run.owner, now)
            moved = {flow.next_column: now + cooldown_of(flow), "updated_at": now}
            if answer:
                moved |= use_answer(run, work, answer, now=now)
            FinancialProfile.objects.filter(pk=run.owner_id).update(**moved)
        run.save()
    if flow is not Flow.TAGS and run.outcome in {RunOutcome.WRITTEN, RunOutcome.UNCHANGED}:
        nudge(Flow.TAGS.job, run.owner_id, now=now)


def use_answer(run: RebuildRun, work: Work, answer: Answer[ModelAnswer], *, now: datetime) -> Mapping[str, Any]:
    """Write what counts of an answer, in shadow mode only what it was; return the columns that move with it."""
    if mode_of(REBUILDS) is not Mode.ON:
        record_shadow(
            capability=REBUILDS,
            subject=run.subject,
            owner_id=run.owner_id,
            decision=answer.value.model_dump(mode="json"),
            model=answer.model,
            cost_usd=answer.cost_usd,
            now=now,
        )
        run.outcome = RunOutcome.SHADOW
        return {}
    written = work.write(run, answer.value, now=now)
    run.outcome = RunOutcome.WRITTEN if written else RunOutcome.UNCHANGED
    run.wrote = [line for line, _row, _before in written]
    run.cursors_after = {column: work.after[column] for column in work.before}
    if written:
        kinds = changes_of()
        steps = [
            Step(line["kind"], line["key"], row, run.owner_id, before, kinds[line["kind"]].state_of(row))
            for line, row, before in written
        ]
        store_set(steps, act=REBUILT, actor=Flow(run.flow).actor, at=now, run=run.subject)
    return work.after
