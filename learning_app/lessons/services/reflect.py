"""A note out of closed trades: a model is asked, and what it says comes into force in one transaction. Source: S4.

Whatever fails leaves the lessons in force, and is tried again at the next trigger.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import structlog
from django.db.models import Sum
from django.utils import timezone

from learning_app.capabilities import REFLECTION_NOTES
from learning_app.ledger.core import SKILL_KIND, TradeStatus, net_of
from learning_app.ledger.core.statistics import best_of
from learning_app.ledger.models import Deployment, SkillVersion, Trade
from learning_app.ledger.selectors import without_refused
from learning_app.lessons.core import hash_lessons_text, reflection_of
from learning_app.lessons.core.reflection import (
    MAX_REASON_CHARS,
    MAX_TOKENS,
    MAX_TRADES,
    SYSTEM,
    Lessons,
    find_problem,
    quoted,
    render_lessons,
    render_question,
    trim_lessons,
)
from learning_app.lessons.models import ReflectionNote
from learning_app.lessons.selectors import load_newest_notes
from learning_app.lessons.services import ACTOR, REFLECT
from learning_app.lessons.services.notes import store_note
from minara_site.kernel.errors import MinaraError
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.services import record_shadow
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.jobs.services import Claim, settle_run
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.gateway import Answer, Question, Tier, ask
from minara_site.kernel.llm.models import LlmUsage
from minara_site.kernel.ownership import owner_locked

WITHHELD = "(withheld)"

log = structlog.get_logger(__name__)


def reflect(*, deployment_id: int, until: str, trigger: str, now: datetime, claim: Claim) -> None:
    """Ask a model about the trades that were fixed, and put in force what it says; a failure changes nothing."""
    deployment = Deployment.objects.filter(pk=deployment_id).select_related("owner", "version").first()
    trades = load_trades(deployment, until=datetime.fromisoformat(until)) if deployment else []
    if deployment is None or not trades or mode_of(REFLECTION_NOTES) is Mode.OFF:
        settle_run(claim, result={"result": "not_asked"}, now=timezone.now())
        return
    version = deployment.version
    subject = f"reflection:{claim.run_id}"
    try:
        answer = ask(question_about(deployment, version, trades, subject=subject))
    except MinaraError as failure:
        log.warning("reflection_failed", deployment=deployment.pk, reason=failure.problem_code)
        settle_run(claim, result={"result": "failed", "reason": failure.problem_code}, now=timezone.now())
        return
    with owner_locked(deployment.owner_id):
        result = keep(deployment.pk, trades, answer, until=datetime.fromisoformat(until), subject=subject)
        settle_run(claim, result={"result": result, "trigger": trigger}, now=timezone.now())


def load_trades(deployment: Deployment, *, until: datetime) -> list[Trade]:
    """Return the trades that were fixed, closed last first; refused reasons are empty. Two queries."""
    rows = Trade.objects.filter(deployment=deployment, status=TradeStatus.CLOSED, exit_tick_at__lte=until)
    return without_refused(rows.order_by("-exit_tick_at", "-number")[:MAX_TRADES])


def question_about(
    deployment: Deployment,
    version: SkillVersion,
    trades: Sequence[Trade],
    *,
    subject: str,
) -> Question[Lessons]:
    """Return what the model is asked. What the guard holds or refuses is not in it."""
    is_refused = bool(version.held_at or find_refused(SKILL_KIND, [version]))
    notes = load_newest_notes(deployment.pk)[:1]
    return question_of(
        {**version.config, "strategy": "", "avoid": []} if is_refused else version.config,
        trades,
        notes[0].lessons_text if notes else "",
        category=Category.LEARNING,
        subject=subject,
        owner_id=deployment.owner_id,
    )


def question_of(
    config: Mapping[str, Any],
    trades: Sequence[Any],
    lessons: str,
    *,
    category: Category,
    subject: str,
    owner_id: int | None = None,
) -> Question[Lessons]:
    """Return what a model is asked about trades; the caller leaves out what may not be read."""
    data = {
        "strategy": quoted(config.get("strategy") or ""),
        "avoid": [quoted(rule) for rule in config.get("avoid", ())],
        "lessons_in_force": "\n".join(map(quoted, lessons.split("\n"))),
        "by_symbol": summary_of(trades, "symbol"),
        "by_regime": summary_of(trades, "entry_regime_tag"),
        "trades": [trade_record(trade) for trade in trades],
    }
    return Question(
        category=category,
        task=REFLECT,
        tier=Tier.FAST,
        system=SYSTEM,
        content=render_question(data),
        answer=Lessons,
        max_tokens=MAX_TOKENS,
        subject=subject,
        owner_id=owner_id,
        model=reflection_of(config).get("model") or "",
    )


def summary_of(trades: Sequence[Trade], column: str) -> list[dict[str, Any]]:
    """Return count, wins and net P&L of the trades for each value of a column."""
    groups: defaultdict[str, list[Decimal]] = defaultdict(list)
    for trade in trades:
        groups[quoted(getattr(trade, column) or "not classified")].append(net_of(trade))
    return [
        {"name": name, "trades": len(nets), "won": sum(net > 0 for net in nets), "net_pnl_usd": f"{sum(nets):.2f}"}
        for name, nets in sorted(groups.items())
    ]


def trade_record(trade: Trade) -> dict[str, Any]:
    """Return one trade as the model reads it."""
    net, pnl, best = net_of(trade), trade.realized_pnl_usd or Decimal(0), best_of(trade)
    return {
        "symbol": quoted(trade.symbol),
        "side": trade.side,
        "opened": trade.entry_tick_at.astimezone(UTC).isoformat(timespec="minutes"),
        "regime": trade.entry_regime_tag,
        "size_usd": f"{trade.entry_size_usd:.0f}",
        "leverage": None if trade.entry_leverage is None else f"{trade.entry_leverage:.4g}",
        "net_pnl_usd": f"{net:.2f}",
        "net_pnl_pct": f"{100 * net / trade.entry_size_usd:.1f}",
        "minutes": f"{trade.holding_minutes or 0:.0f}",
        "captured_of_best": f"{pnl / best:.2f}" if best and best > 0 else None,
        "entry_reason": quoted(trade.entry_reason)[:MAX_REASON_CHARS],
        "exit_reason": quoted(trade.exit_reason)[:MAX_REASON_CHARS],
    }


def keep(
    deployment_id: int,
    trades: Sequence[Trade],
    answer: Answer[Lessons],
    *,
    until: datetime,
    subject: str,
) -> str:
    """Put lessons in force and return what became of them; in shadow mode record them. Needs the owner's lock."""
    now, text = timezone.now(), render_lessons(answer.value)
    deployment = Deployment.objects.filter(pk=deployment_id).select_related("owner", "version").first()
    if deployment is None:
        return "gone"
    problem = find_problem(text, deployment.version.config.get("avoid", ()))
    if problem:
        log.warning("reflection_dropped", deployment=deployment.pk, reason=problem.value)
        return f"dropped: {problem}"
    text, mode = trim_lessons(text), mode_of(REFLECTION_NOTES)
    if mode is not Mode.ON:
        if mode is Mode.SHADOW:
            record_shadow(
                capability=REFLECTION_NOTES,
                subject=subject,
                owner_id=deployment.owner_id,
                decision={"lessons": WITHHELD if guard.judge(text).is_held else text},
                model=answer.model,
                cost_usd=answer.cost_usd,
                now=now,
            )
        return mode.value
    usage = LlmUsage.objects.filter(pk__in=answer.usage_ids)
    note = ReflectionNote(
        owner=deployment.owner,
        skill_id=deployment.version.skill_id,
        version=deployment.version.number,
        deployment=deployment,
        generated_at=now,
        window_start=min(trade.entry_tick_at for trade in trades),
        window_end=until,
        trades_considered=len(trades),
        lessons_text=text,
        model_used=answer.model,
        **usage.aggregate(input_tokens=Sum("input_tokens"), output_tokens=Sum("output_tokens")),
        cost_usd=answer.cost_usd,
        content_hash=hash_lessons_text(text),
        actor=ACTOR,
        created_at=now,
    )
    store_note(note)
    return "held" if note.held_at else "stored"
