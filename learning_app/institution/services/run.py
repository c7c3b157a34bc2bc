"""The run itself: ask the first position without a stored output, until there is none. Source: S2, decisions.

What was stored is never asked again, so that a run that a kill interrupted goes on where it stands. A model is asked
with no transaction open; its answer is stored once, while the run is open and its lease is held.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.institution.core.answers import PortfolioDecision, RoleAnswer, check_cited
from learning_app.institution.core.ladder import DAYS, due_at
from learning_app.institution.core.prompts import WITHHELD, has_withheld, render_content, withhold
from learning_app.institution.core.roles import MAX_CALLS, POSITIONS, Position, system_of, task_of
from learning_app.institution.models import OPEN_STATES, InstitutionReflection, InstitutionRoleOutput, InstitutionRun
from learning_app.institution.services.inputs import brief_of, collect_inputs
from learning_app.institution.services.ladder import lease_name, new_snapshot
from learning_app.institution.services.requests import end_run, request_job, require_on
from learning_app.vocabulary import InstitutionState, LadderWindow, MissingInput, OutcomeState
from minara_site.kernel.core.nested import leaves
from minara_site.kernel.errors import Conflict, MinaraError, Unavailable
from minara_site.kernel.guard import core as guard
from minara_site.kernel.jobs.leases import KeptLease, kept_lease
from minara_site.kernel.jobs.services import DROPPED, MAX_ATTEMPTS, Cancelled, Claim, ClaimLost, report_progress
from minara_site.kernel.jobs.time_budget import TimeBudget
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.gateway import Answer, CircuitOpen, ModelUnavailable, Question, ask
from minara_site.kernel.llm.models import LlmUsage

LEASE_SECONDS = 15  # less than that of a job, so that its next attempt finds it free
RUN_SECONDS = 20.0
"""After so long a job leaves the rest of the roles to its next run, which waits behind the other jobs."""
CONTINUED = "continued"
MAX_TOKENS = 1_500
CALLS_OF_QUESTION = 2  # with its repair
MAX_CODE_CHARS = 12  # of values such as bullish, which are no text

log = structlog.get_logger(__name__)
Said = list[InstitutionRoleOutput]


class NotOurs(Conflict):
    """The run was cancelled, or another worker has it."""

    code = "not_ours"


class TooManyCalls(Conflict):
    """Repairs and lost calls used up what a run may ask."""

    code = "too_many_calls"


def run_institution(
    run_id: int,
    *,
    now: datetime,
    claim: Claim | None = None,
    say: Callable[[InstitutionRoleOutput], None] = lambda output: None,
) -> dict[str, Any]:
    """Ask the roles of a run that have not answered; return how it ended. `say` is told each answer that is stored.

    A run that another worker has is tried again by the job's next attempt (raises Unavailable).
    """
    with kept_lease(lease_name(run_id), seconds=LEASE_SECONDS, now=now) as lease:
        run = InstitutionRun.objects.select_related("owner").filter(pk=run_id).first()
        if run is None or not run.is_open:
            return {"result": run.state if run else "gone"}
        if lease is None:
            if has_attempts_left(claim):
                raise Unavailable(_("Another worker has this run. It is tried again."))
            return {"result": DROPPED}
        found = work_at(Committee(run, lease, claim, say), now)
    if found["result"] == CONTINUED:  # only now is the lease free for whoever goes on
        with transaction.atomic():
            request_job(run, now=timezone.now())
    return found


def work_at(committee: "Committee", now: datetime) -> dict[str, Any]:
    """Let a committee work; return how that ended.

    A model that does not answer now is asked again by the job's next attempt (raises Unavailable); whatever else
    refuses a call ends the run as failed, and what was stored stays.
    """
    run = committee.run
    try:
        return committee.work(now)
    except NotOurs:
        return {"result": "stopped"}
    except Cancelled:
        end_run(run, InstitutionState.CANCELLED, now=timezone.now())
        raise
    except (ModelUnavailable, CircuitOpen) as error:
        if has_attempts_left(committee.claim):
            raise
        return fail(run, error)
    except MinaraError as error:
        return fail(run, error)
    except (ClaimLost, DatabaseError, InterfaceError):
        raise
    except Exception:
        end_run(
            run,
            InstitutionState.FAILED,
            error=_("It stopped at a fault of its own."),
            now=timezone.now(),
        )
        raise


def has_attempts_left(claim: Claim | None) -> bool:
    """Say whether a job may try again what does not work now; the command may not."""
    return claim is not None and claim.attempt < MAX_ATTEMPTS


def fail(run: InstitutionRun, error: MinaraError) -> dict[str, Any]:
    """End a run as failed and return how it ended."""
    end_run(
        run,
        InstitutionState.FAILED,
        error=error.detail,
        now=timezone.now(),
    )
    log.warning("institution_run_failed", run=run.uid, code=error.problem_code)
    return {"result": InstitutionState.FAILED.value, "code": error.problem_code}


@dataclass(frozen=True, slots=True)
class Committee:
    """One worker at one run."""

    run: InstitutionRun
    lease: KeptLease
    claim: Claim | None
    say: Callable[[InstitutionRoleOutput], None]

    def work(self, now: datetime) -> dict[str, Any]:
        """Ask position after position; a job that had its time leaves the rest to another one."""
        budget = TimeBudget.start(RUN_SECONDS) if self.claim else TimeBudget()
        self.begin(now)
        said: Said = list(self.run.outputs.order_by("position"))
        for number in range(len(said), len(POSITIONS)):
            report_progress(self.claim, number, len(POSITIONS))
            if budget.is_spent:
                return {"result": CONTINUED, "roles": number}
            require_on()
            said.append(self.ask_position(number, said))
            self.say(said[-1])
        report_progress(self.claim, len(POSITIONS), len(POSITIONS))
        log.info(
            "institution_run_done",
            run=self.run.uid,
            calls=self.run.calls,
        )
        return {"result": InstitutionState.DONE.value, "roles": len(POSITIONS)}

    def begin(self, now: datetime) -> None:
        """Collect what the roles read, once, and look back at the last decision on the ticker (phase 0)."""
        run = self.run
        self.check_ours()
        self.own().update(state=InstitutionState.RUNNING)
        if run.inputs is not None:
            return
        at = run.as_of or now
        inputs = collect_inputs(run, at=at)
        last = find_last_decision(run, at=at)
        snapshot = new_snapshot(last, LadderWindow.LAZY, at=at, for_run=run) if last else None
        if last and snapshot:
            inputs["retrospect"] = describe_last(last, snapshot, at=at)
        else:
            inputs["missing"].append(MissingInput.RETROSPECT_NONE)
        with transaction.atomic():
            self.check_ours(lock=True)
            self.own().update(inputs=inputs)
            if snapshot:
                snapshot.save(force_insert=True)
        run.inputs = inputs

    def own(self) -> "QuerySet[InstitutionRun]":
        """Return the run while it is open and this worker has its lease, else nothing."""
        rows: QuerySet[InstitutionRun] = InstitutionRun.objects.filter(self.lease.is_held, state__in=OPEN_STATES)
        return rows.filter(pk=self.run.pk)

    def check_ours(self, *, lock: bool = False) -> None:
        """Raise NotOurs once the run is over or another worker has it; `lock` keeps it so in this transaction."""
        rows = self.own().select_for_update(of=("self",)) if lock else self.own()
        if rows.first() is None:
            raise NotOurs(_("This run is over."))

    def ask_position(self, number: int, said: Said) -> InstitutionRoleOutput:
        """Ask the role at a position and store what it answers. Raises what `ask` raises, NotOurs and TooManyCalls."""
        run, position = self.run, POSITIONS[number]
        if run.calls + CALLS_OF_QUESTION > MAX_CALLS:
            raise TooManyCalls(_("The run used its %(most)d model calls before it was done.") % {"most": MAX_CALLS})
        self.check_ours()
        try:
            answer = ask(question_of(run, position, said))
        finally:
            self.count_calls()
        output = output_of(run, number, answer)
        with transaction.atomic():
            self.check_ours(lock=True)
            output.save(force_insert=True)
            if isinstance(answer.value, PortfolioDecision):
                decide(run, answer.value, output, at=timezone.now())
        return output

    def count_calls(self) -> None:
        """Keep how many calls the run has made and what they cost, repairs and lost ones among them."""
        used = calls_of(self.run).aggregate(calls=Count("pk"), cost=Sum("cost_usd"))
        self.run.calls, self.run.cost_usd = used["calls"], used["cost"] or 0
        self.run.save(update_fields=["calls", "cost_usd"])


def calls_of(run: InstitutionRun) -> "QuerySet[LlmUsage]":
    """Return the model calls of a run; that its subject is not empty lets the index of subjects be used."""
    return LlmUsage.objects.filter(subject=run.subject).exclude(subject="")


def question_of(run: InstitutionRun, position: Position, said: Said) -> Question[Any]:
    """Return what the role at a position is asked."""
    shown = (run.inputs or {})["methods"]
    return Question(
        category=Category.WORKFLOW,
        task=task_of(position),
        tier=position.tier,
        system=system_of(position),
        content=render_content(position, brief_of(run, said)),
        answer=position.answer,
        max_tokens=MAX_TOKENS,
        subject=run.subject,
        owner_id=run.owner_id,
        check=partial(check_cited, shown=shown) if position.answer is PortfolioDecision else None,
    )


def output_of(
    run: InstitutionRun,
    number: int,
    answer: Answer[RoleAnswer],
) -> InstitutionRoleOutput:
    """Return the unsaved output of a position, each text withheld that the guard refuses, all when their sum is."""
    position = POSITIONS[number]
    fields = accepted_fields(answer.value.model_dump(mode="json"))
    return InstitutionRoleOutput(
        run=run,
        position=number,
        phase=position.phase,
        role=position.role,
        kind=position.answer.__name__,
        fields=fields,
        is_withheld=has_withheld(fields),
        usage_ids=list(answer.usage_ids),
        cost_usd=answer.cost_usd,
        model=answer.model,
        at=timezone.now(),
    )


def accepted_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields without the texts that today's guard refuses; without any when it refuses them side by side."""
    kept: dict[str, Any] = withhold(fields, is_refused)
    is_split = is_refused("\n".join(leaves(kept)))
    return withhold(kept, lambda text: len(text) > MAX_CODE_CHARS) if is_split else kept


def is_refused(text: str) -> bool:
    """Say whether the guard lets no agent read a text."""
    return text != WITHHELD and guard.judge(text).is_held


def decide(
    run: InstitutionRun,
    decision: PortfolioDecision,
    output: InstitutionRoleOutput,
    *,
    at: datetime,
) -> None:
    """Store the decision and the windows in which it will be scored. Needs a transaction; the run is locked."""
    run.state, run.ended_at, run.decided_at = InstitutionState.DONE, at, run.as_of or at
    run.rating, run.confidence, run.horizon_days = decision.rating, decision.confidence, decision.horizon_days
    run.cases, run.cited = output.fields["cases"], decision.cited
    run.save(
        update_fields=[*("state", "ended_at", "decided_at", "rating", "confidence", "horizon_days", "cases", "cited")]
    )
    InstitutionReflection.objects.bulk_create(
        InstitutionReflection(
            run=run,
            window=window,
            due_at=due_at(window, run.decided_at),
        )
        for window in DAYS
    )


def find_last_decision(run: InstitutionRun, *, at: datetime) -> InstitutionRun | None:
    """Return the owner's last decision on the ticker before a moment; replays count for replays alone, demos never."""
    rows = InstitutionRun.objects.filter(
        owner=run.owner_id,
        ticker=run.ticker,
        state=InstitutionState.DONE,
    )
    if run.as_of is None:
        rows = rows.filter(as_of__isnull=True)
    return rows.filter(decided_at__lt=at, is_demo=False).order_by("-decided_at", "-pk").first()


def describe_last(
    last: InstitutionRun,
    snapshot: InstitutionReflection,
    *,
    at: datetime,
) -> dict[str, Any]:
    """Return the last decision and what had become of it at a moment, as roles read it; its words are judged anew."""
    assert last.decided_at, "it was decided"
    ladder = last.reflections.filter(window__in=list(DAYS), due_at__lte=at).exclude(outcome_state=OutcomeState.PENDING)
    return {
        "run": last.uid,
        "decided_at": last.decided_at.isoformat(),
        "rating": last.rating,
        "confidence": last.confidence,
        "horizon_days": last.horizon_days,
        "cases": accepted_fields(last.cases or {}),
        "until_now": score_of(snapshot),
        "scores": {rung.window: score_of(rung) for rung in ladder.order_by("due_at", "pk")},
    }


def score_of(reflection: InstitutionReflection) -> dict[str, Any]:
    """Return what a reflection found."""
    return {"score": reflection.outcome_state, "pnl_pct": reflection.pnl_pct}
