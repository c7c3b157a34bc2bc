"""One tick: the portfolio becomes what is written of trades, in one transaction, and a view for the next decision.

Source: S4. The ticks of an owner take turns. The same tick again changes nothing, an older one is refused.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import F
from django.utils.translation import gettext as _

from learning_app.ledger.core import SNAPSHOT_KIND, TRADE_KIND, EngineKind, TradeAction, TradeStatus
from learning_app.ledger.core.reconcile import CloseTrade, Op, OpenTrade, Step, UpdateMfeMae, without_reason
from learning_app.ledger.models import DecisionSnapshot, Deployment, Trade
from learning_app.ledger.services import CLOCKS_DIFFER, set_exit_reason
from learning_app.lessons.models import LessonsUse, ReflectionNote
from learning_app.lessons.selectors import load_newest_notes
from learning_app.lessons.services import request_reflection
from learning_app.ticks.core import Report
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.context import Context
from learning_app.ticks.core.ledger import Ledger, Written
from learning_app.ticks.models import AgentState
from learning_app.ticks.selectors import last_snapshot, load_context
from minara_site.kernel.audit_log.services import content_digest, record_audits
from minara_site.kernel.errors import Conflict, invalid_field
from minara_site.kernel.events import send_after_commit, trade_outcome_updated, trade_recorded
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.market.core.values import LARGEST, Fault, UnusableError
from minara_site.kernel.market.labels import fault_sentence
from minara_site.kernel.ownership import owner_locked

RUNNING = ("position_size", "average_price", "partial_pnl_usd", "mfe_usd", "mae_usd")


def record_tick(
    *,
    deployment: Deployment,
    report: Report,
    actor: str,
    now: datetime,
) -> tuple[Sequence[Op], Context]:
    """Return what a tick wrote, and what the next decision reads. Raises Invalid, and Conflict for an older tick."""
    if report.at > now + CLOCKS_DIFFER:
        raise invalid_field("tick_at", _("tick_at is in the future. Report a tick once it is over."))
    with owner_locked(deployment.owner_id):
        state = AgentState.objects.select_related("deployment__version").get(deployment=deployment)
        deployment = state.deployment
        if state.tick_at and report.at < state.tick_at:
            raise Conflict(
                _("A later tick is recorded already. Nothing was changed."),
                code="older_tick",
                current={"tick_at": state.tick_at.isoformat()},
            )
        repeated = last_snapshot(deployment) if report.at == state.tick_at else None
        ops, rows, snapshot = (
            ((), None, repeated) if repeated else write_tick(deployment, state, report, actor=actor, now=now)
        )
    context = load_context(snapshot, snapshot.version, rows)
    if not snapshot.context_hash:
        DecisionSnapshot.objects.filter(pk=snapshot.pk).update(context_hash=context.hash, context_tokens=context.tokens)
    return ops, context


def write_tick(
    deployment: Deployment,
    state: AgentState,
    report: Report,
    *,
    actor: str,
    now: datetime,
) -> tuple[Sequence[Op], Sequence[Trade], DecisionSnapshot]:
    """Write a tick; return its ops, the trades that are open after it, and its snapshot. Needs the owner's lock."""
    ledger = StoredLedger(deployment, state)
    shown = ledger.shown
    ops, steps, net = ledger.reconcile(report)
    check_amounts(ledger, steps)
    memory = SkillConfig(**deployment.version.config).memory
    if ledger.choose_lessons(load_newest_notes(deployment.pk), memory, closed=len(net)):
        request_reflection(deployment_id=deployment.pk, until=report.at, trigger=memory.reflection.cadence, now=now)
    state.save()
    count_use(deployment.pk, shown, report)
    snapshot = snapshot_of(deployment, state, report, steps, actor=actor, now=now)
    store_judged(SNAPSHOT_KIND, snapshot, now=now)
    write_trades(ledger.apply(steps, report.at), snapshot, now=now)
    answered = list(map(without_reason, ops)) if snapshot.held_at else ops
    return answered, list(ledger.open.values()), snapshot


class StoredLedger(Ledger):
    """The open trades of a deployment in the database."""

    def __init__(self, deployment: Deployment, state: AgentState) -> None:
        self.deployment, self.name, self.state = deployment, deployment.name, state
        rows = Trade.objects.filter(deployment=deployment, status=TradeStatus.OPEN).select_for_update()
        self.open = {row.symbol: row for row in rows}

    def make_row(self, **columns: Any) -> Trade:
        """Return the unsaved row of a new trade."""
        deployment = self.deployment
        return Trade(
            **columns,
            owner_id=deployment.owner_id,
            deployment=deployment,
            skill_id=deployment.version.skill_id,
            skill_version=deployment.version.number,
        )

    def count_closed_after(self, note: ReflectionNote) -> int:
        """Return how many of its trades were closed after those that a note is made of. One query."""
        return Trade.objects.filter(deployment=self.deployment, exit_tick_at__gt=note.window_end).count()


def check_amounts(ledger: Ledger, steps: Sequence[Step]) -> None:
    """Refuse what no column holds. Raises Invalid."""
    kept = [step.holding for step in steps if isinstance(step, UpdateMfeMae)]
    amounts = [step.realized_pnl_usd for step in steps if isinstance(step, CloseTrade)]
    amounts += [each for holding in kept for each in (holding.realized, holding.mfe, holding.mae)]
    amounts += [step.fees_usd + ledger.open[step.symbol].fees_usd for step in steps if not isinstance(step, OpenTrade)]
    amounts.append(ledger.state.pnl_today_usd)
    if any(abs(amount) >= LARGEST for amount in amounts):
        raise invalid_field("portfolio", fault_sentence(UnusableError(Fault.TOO_LARGE)))


def count_use(deployment_id: int, shown: str | None, report: Report) -> None:
    """Count a tick for the lessons that stood before its decision."""
    counted = use_of(report)
    uses = LessonsUse.objects.filter(deployment=deployment_id, content_hash=shown or "")
    if not uses.update(**{name: F(name) + value for name, value in counted.items()}):
        LessonsUse.objects.create(deployment_id=deployment_id, content_hash=shown or "", **counted)


def use_of(report: Report) -> dict[str, float]:
    """Return what one tick counts for its lessons."""
    said = report.proposal
    is_proposal = said is not None and said.action not in {None, TradeAction.NONE}
    held = sum((position.size_usd for position in report.positions.values()), Decimal(0))
    return {
        "ticks": 1,
        "ticks_in_market": int(bool(report.positions)),
        "exposure": float(held / report.equity_usd) if report.equity_usd > 0 else 0.0,
        "proposals": int(is_proposal),
        "skipped": int(is_proposal and report.engine is not EngineKind.EXECUTED),
    }


def snapshot_of(
    deployment: Deployment,
    state: Any,
    report: Report,
    steps: Sequence[Step],
    *,
    actor: str,
    now: datetime,
) -> DecisionSnapshot:
    """Return the unsaved row of a tick."""
    said = report.proposal
    proposed = None
    if said:
        proposed = {
            name: None if value is None else str(value)
            for name in ("action", "symbol", "side", "size_usd", "stop_price")
            for value in [getattr(said, name)]
        }
    return DecisionSnapshot(
        owner_id=deployment.owner_id,
        deployment=deployment,
        version=deployment.version,
        tick_at=report.at,
        equity_usd=report.equity_usd,
        positions={
            symbol: {
                "side": position.side,
                "size_base": str(position.size),
                "size_usd": str(position.size_usd),
                "mark_price": str(position.mark),
                "entry_price": str(report.costs[symbol]),
                "leverage": None if position.leverage is None else str(position.leverage),
            }
            for symbol, position in report.positions.items()
        },
        proposed_action=proposed,
        reason=said.reason if said else "",
        engine_kind=report.engine,
        engine_rule=report.rule,
        is_flatten=report.is_flatten,
        lessons_hash=state.lessons_hash,
        memory={
            "state": {
                "day_start_equity_usd": str(state.day_start_equity_usd),
                "executed_today": state.executed_today,
                "pnl_today_usd": str(state.pnl_today_usd),
                "losing_closes": state.losing_closes,
            },
            "open": {
                step.symbol: [str(step.holding.mark), str(step.holding.mfe), str(step.holding.mae)]
                for step in steps
                if not isinstance(step, CloseTrade)
            },
        },
        actor=actor,
        created_at=now,
    )


def write_trades(written: Written, snapshot: DecisionSnapshot, *, now: datetime) -> None:
    """Store the trades that a tick wrote, what it closed before what it opened. Needs a transaction."""
    opened, closed, changed = written
    for row in (*opened, *closed, *changed):
        row.updated_at = now
    for row in closed:
        row.exit_snapshot = snapshot
        set_exit_reason(row, row.exit_reason, now=now)
        row.save()
    for row in opened:
        row.entry_snapshot, row.actor, row.created_at = snapshot, snapshot.actor, now
        store_judged(TRADE_KIND, row, now=now)
    if changed:
        Trade.objects.bulk_create(
            changed,
            update_conflicts=True,  # a tenth of the time of bulk_update
            unique_fields=["number"],
            update_fields=[*RUNNING, "fees_usd", "updated_at"],
        )
    publish(opened, closed, snapshot, now=now)


def publish(opened: Sequence[Trade], closed: Sequence[Trade], snapshot: DecisionSnapshot, *, now: datetime) -> None:
    """Send the events of a tick's trades, and write what happened into the audit log."""
    acts = []
    for act, event, rows in (
        ("trade_recorded", trade_recorded, opened),
        ("trade_closed", trade_outcome_updated, closed),
    ):
        if rows:
            send_after_commit(event, owner_id=snapshot.owner_id, trade_ids=tuple(row.pk for row in rows))
        for row in rows:
            details = {"id": row.uid, "sha256": content_digest(row.guarded_text), "snapshot": snapshot.pk}
            acts.append((act, details | ({"held": 1} if row.held_at else {})))
    if acts:
        record_audits(acts, now=now, actor=snapshot.actor, owner_id=snapshot.owner_id)
