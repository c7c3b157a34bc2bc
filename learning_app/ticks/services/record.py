"""One tick: the portfolio becomes what is written of trades, in one transaction, and a view for the next decision.

Source: S4. The ticks of an owner take turns. The same tick again changes nothing, an older one is refused.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import F
from django.utils.translation import gettext as _

from learning_app.ledger.core import SNAPSHOT_KIND, TRADE_KIND, EngineKind, TradeAction, TradeStatus
from learning_app.ledger.core.reconcile import (
    CloseTrade,
    FlipTrade,
    Op,
    OpenTrade,
    UpdateMfeMae,
    entry_columns,
    exit_columns,
    holding_of,
    reconcile_portfolio_delta,
    running_columns,
)
from learning_app.ledger.models import DecisionSnapshot, Deployment, SkillVersion, Trade
from learning_app.ledger.services import CLOCKS_DIFFER, set_exit_reason
from learning_app.lessons.core import Compare, choose_place, should_run_reflection
from learning_app.lessons.models import LessonsUse, ReflectionNote
from learning_app.lessons.selectors import load_newest_notes
from learning_app.lessons.services import request_reflection
from learning_app.ticks.core import Report, advance, closings
from learning_app.ticks.core.config import ReflectionConfig, SkillConfig
from learning_app.ticks.core.context import Context
from learning_app.ticks.models import AgentState
from learning_app.ticks.selectors import get_version, last_snapshot, load_context
from minara_site.kernel.audit_log.services import content_digest, record_audits
from minara_site.kernel.core.symbols import asset_of_market
from minara_site.kernel.errors import Conflict, invalid_field
from minara_site.kernel.events import send_after_commit, trade_outcome_updated, trade_recorded
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.market.core.values import LARGEST, Fault, UnusableError, rounded
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
        state = AgentState.objects.get(deployment=deployment)
        if state.tick_at and report.at < state.tick_at:
            raise Conflict(
                _("A later tick is recorded already. Nothing was changed."),
                code="older_tick",
                current={"tick_at": state.tick_at.isoformat()},
            )
        repeated = last_snapshot(deployment) if report.at == state.tick_at else None
        version = get_version(deployment, repeated.version if repeated else None)
        ops, rows, snapshot = (
            ((), None, repeated) if repeated else write_tick(deployment, version, state, report, actor=actor, now=now)
        )
    context = load_context(snapshot, version, rows)
    if not snapshot.context_hash:
        DecisionSnapshot.objects.filter(pk=snapshot.pk).update(context_hash=context.hash, context_tokens=context.tokens)
    return ops, context


def write_tick(
    deployment: Deployment,
    version: SkillVersion,
    state: AgentState,
    report: Report,
    *,
    actor: str,
    now: datetime,
) -> tuple[Sequence[Op], Sequence[Trade], DecisionSnapshot]:
    """Write a tick; return its ops, the trades that are open after it, and its snapshot. Needs the owner's lock."""
    rows = {row.symbol: row for row in Trade.objects.filter(deployment=deployment, status=TradeStatus.OPEN)}
    prev = {symbol: holding_of(row, Decimal(state.marks[symbol])) for symbol, row in rows.items()}
    shown = state.lessons_hash
    ops = reconcile_portfolio_delta(prev, report.positions, report.tick(prev, shown))
    check_amounts(ops)
    net = [op.realized_pnl_usd - rows[op.symbol].fees_usd - op.fees_usd for op in closings(ops)]
    advance(state, report, ops, net)
    choose_lessons(state, deployment, SkillConfig(**version.config).memory.reflection, closed=len(net), now=now)
    state.save()
    count_use(deployment.pk, shown, report)
    snapshot = snapshot_of(deployment, state, report, ops, actor=actor, now=now)
    store_judged(SNAPSHOT_KIND, snapshot, now=now)
    write_trades(ops, rows, snapshot, deployment, now=now)
    return ops, list(rows.values()), snapshot


def check_amounts(ops: Sequence[Op]) -> None:
    """Refuse what no column holds. Raises Invalid."""
    amounts = [op.realized_pnl_usd for op in closings(ops)]
    kept = [op.holding for op in ops if isinstance(op, UpdateMfeMae)]
    amounts += [each for holding in kept for each in (holding.realized, holding.mfe, holding.mae)]
    if any(abs(amount) >= LARGEST for amount in amounts):
        raise invalid_field("portfolio", fault_sentence(UnusableError(Fault.TOO_LARGE)))


def choose_lessons(
    state: AgentState,
    deployment: Deployment,
    config: ReflectionConfig,
    *,
    closed: int,
    now: datetime,
) -> None:
    """Choose the lessons of the next decision, and ask for new ones where it is time. Needs a transaction."""
    assert state.tick_at is not None
    notes = load_newest_notes(deployment.pk)
    newest: ReflectionNote | None = notes[0] if notes else None
    if newest and newest.pk != state.note_id:
        later = Trade.objects.filter(deployment=deployment, exit_tick_at__gt=newest.window_end)
        state.note_id, state.openings, state.closed_since_note = newest.pk, 0, later.count() + closed
    place = choose_place(deployment.name, state.openings) if config.compare == Compare.ALTERNATE else 0
    state.lessons_hash = notes[min(place, len(notes) - 1)].content_hash if notes else None
    if should_run_reflection(
        cadence=config.cadence,
        every_n=config.everyNTrades,
        closed_since_note=state.closed_since_note,
        closed_this_tick=closed > 0,
        last_generated_at=newest.generated_at if newest else None,
        tick_at=state.tick_at,
    ):
        request_reflection(deployment_id=deployment.pk, until=state.tick_at, trigger=config.cadence, now=now)


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
    ops: Sequence[Op],
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
                op.symbol: [str(op.holding.mark), str(op.holding.mfe), str(op.holding.mae)] for op in running(ops)
            },
        },
        actor=actor,
        created_at=now,
    )


def running(ops: Sequence[Op]) -> list[OpenTrade | UpdateMfeMae]:
    """Return what is open after ops."""
    opened = [op.open if isinstance(op, FlipTrade) else op for op in ops]
    return [op for op in opened if not isinstance(op, CloseTrade)]


def write_trades(
    ops: Sequence[Op],
    rows: dict[str, Trade],
    snapshot: DecisionSnapshot,
    deployment: Deployment,
    *,
    now: datetime,
) -> None:
    """Write the ops; `rows` are the open trades by symbol, and become those after them. Needs a transaction."""
    changed, closed, opened = list[Trade](), list[Trade](), list[Trade]()
    for op in ops:
        if isinstance(op, UpdateMfeMae):
            row, columns = rows[op.symbol], running_columns(op.holding)
            if op.fees_usd or any(getattr(row, name) != value for name, value in columns.items()):
                changed.append(set_columns(row, columns, fees=op.fees_usd, now=now))
        if isinstance(op, CloseTrade | FlipTrade):
            closed.append(close(rows.pop(op.symbol), op.close if isinstance(op, FlipTrade) else op, snapshot, now=now))
        if isinstance(op, OpenTrade | FlipTrade):
            opening = op.open if isinstance(op, FlipTrade) else op
            row = Trade(
                **entry_columns(opening),
                owner_id=deployment.owner_id,
                deployment=deployment,
                skill_id=deployment.skill_id,
                skill_version=deployment.version,
                asset=asset_of_market(opening.symbol),
                entry_snapshot=snapshot,
                actor=snapshot.actor,
                created_at=now,
                updated_at=now,
            )
            store_judged(TRADE_KIND, row, now=now)
            rows[op.symbol] = row
            opened.append(row)
    if changed:
        Trade.objects.bulk_create(
            changed,
            update_conflicts=True,  # a tenth of the time of bulk_update
            unique_fields=["number"],
            update_fields=[*RUNNING, "fees_usd", "updated_at"],
        )
    publish(opened, closed, snapshot, now=now)


def set_columns(row: Trade, columns: Mapping[str, Any], *, fees: Decimal, now: datetime) -> Trade:
    """Give a row these values, more fees, and the moment of the change."""
    for name, value in columns.items():
        setattr(row, name, value)
    row.fees_usd, row.updated_at = rounded(row.fees_usd + fees), now
    return row


def close(row: Trade, op: CloseTrade, snapshot: DecisionSnapshot, *, now: datetime) -> Trade:
    """Close a trade. Needs a transaction."""
    set_columns(row, exit_columns(op, snapshot.tick_at), fees=op.fees_usd, now=now)
    row.exit_snapshot = snapshot
    set_exit_reason(row, op.exit_reason, now=now)
    row.save()
    return row


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
