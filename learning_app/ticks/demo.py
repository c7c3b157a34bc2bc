"""The demo's trading agent: a month of ticks over the demo's prices, through the ledger in memory, and its lessons."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from statistics import fmean
from typing import Any

from django.utils.translation import gettext_lazy as _

from learning_app.ledger.core.reconcile import ZERO, Op, steps_of
from learning_app.ledger.models import DecisionSnapshot, Deployment, Skill, SkillVersion, Trade
from learning_app.lessons.core import NoteStatus, hash_lessons_text
from learning_app.lessons.models import LessonsUse, ReflectionNote
from learning_app.ticks.core import Report, State
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.context import Context
from learning_app.ticks.core.paper import PaperBroker
from learning_app.ticks.core.simulate import MemoryLedger
from learning_app.ticks.models import AgentState
from learning_app.ticks.services.deployments import find_or_add_version
from learning_app.ticks.services.record import snapshot_of, use_of
from learning_app.ticks.simulate import Candle, simulate
from minara_site.kernel.demo import AGENT_KEY, DemoAct, DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from minara_site.kernel.guard.core import RULES
from minara_site.kernel.market.core import Bar
from minara_site.kernel.market.models import PriceBar

KEPT_TICKS, MEAN_OF, HOUR = 48, 4, timedelta(hours=1)
START_USD, FEE_BPS = Decimal(10_000), Decimal(1)


class DemoNote(DemoRow):
    """One revision of the lessons."""

    text: str


class DemoDeployment(DemoRow):
    """A trading agent that buys below the mean of four hours and sells above it, from `away` of the price on."""

    name: str
    skill: str
    config: SkillConfig
    symbol: str
    size_usd: int
    away: float
    entries: tuple[str, ...]
    exits: tuple[str, ...]
    notes: tuple[DemoNote, ...]

    def decide(self, bars: Sequence[Candle], portfolio: Any, context: Any) -> dict[str, Any] | None:
        """Return what it proposes at a candle: against a move away from the mean, out of it at the mean."""
        closes = [bar.close for bar in bars[-MEAN_OF:]]
        away, number = closes[-1] / fmean(closes) - 1, bars[-1].ts // 3_600_000
        if portfolio["positions"]:
            is_back = (away > 0) is (portfolio["positions"][0]["side"] == "long")
            reason = self.exits[number % len(self.exits)]
            return {"action": "close_position", "reason": reason} if is_back else None
        if len(closes) < MEAN_OF or abs(away) < self.away:
            return None
        size = self.size_usd if number % 7 else 50 * self.size_usd  # now and then one that the broker rejects
        side = "short" if away > 0 else "long"
        stop = round(closes[-1] * (1.02 if away > 0 else 0.98), 2)
        said = {"action": "open", "symbol": self.symbol, "side": side, "size_usd": size, "stop_price": stop}
        return said | {"reason": self.entries[number % len(self.entries)]}


class DemoLedger(MemoryLedger):
    """A ledger in memory whose ticks leave their snapshots, with the lessons in force at each."""

    def __init__(self, deployment: Deployment, config: SkillConfig, notes: dict[datetime, str]) -> None:
        super().__init__(config)
        self.deployment, self.dated = deployment, sorted(notes.items())
        self.snapshots = list[DecisionSnapshot]()
        self.uses = defaultdict[str, defaultdict[str, float]](lambda: defaultdict(int))

    def record(self, report: Report) -> tuple[Sequence[Op], Context]:
        for name, value in use_of(report).items():
            self.uses[self.shown or ""][name] += value
        for _at, text in [each for each in self.dated if each[0] <= report.at][len(self.notes) :]:
            self.learn(text)
        ops, context = super().record(report)
        row = snapshot_of(self.deployment, self.state, report, steps_of(ops), actor=AGENT_KEY, now=report.at)
        row.context_hash, row.context_tokens = context.hash, context.tokens
        row.rules_version, row.is_demo = RULES.version, True
        self.snapshots.append(row)
        return ops, context


class DeploymentsPart(DemoPart[DemoDeployment]):
    """Trading agents with their ticks, trades and lessons."""

    name, rows = "deployments", read_rows(DemoDeployment, __package__)

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        """Yield them at the end, when the prices are there."""
        for name, rows in self.rows.items():
            for row in rows:
                yield load.now, partial(self.store, load, load.people[name], row)

    def store(self, load: DemoLoad, owner: Any, row: DemoDeployment) -> None:
        at = load.ago(row.hours_ago)
        made = {"owner": owner, "created_at": at, "is_demo": True}
        skill, is_new = Skill.objects.get_or_create(owner=owner, name=row.skill, defaults=made)
        if not is_new:
            return
        version = find_or_add_version(skill, row.config, None, actor=AGENT_KEY, now=at)
        SkillVersion.objects.filter(pk=version.pk).update(is_demo=True)
        deployment = Deployment.objects.create(**made, name=row.name, version=version, actor=AGENT_KEY)
        AgentState.objects.create(deployment=deployment)
        notes = {load.ago(note.hours_ago): note.text.strip() for note in row.notes}
        ledger = DemoLedger(deployment, row.config, notes)
        found = PriceBar.objects.filter(owner=owner, is_demo=True, symbol=row.symbol, interval_seconds=3_600)
        bars = [Bar(each.opens_at, each.open, each.high, each.low, each.close) for each in found.order_by("closes_at")]
        broker = PaperBroker(row.symbol, START_USD, Decimal(3), FEE_BPS, ZERO)
        for _tick in simulate(bars, row.decide, broker, ledger, length=HOUR):
            pass
        DecisionSnapshot.objects.bulk_create(ledger.snapshots[-KEPT_TICKS:])
        store_trades(deployment, ledger)
        columns = {name: getattr(ledger.state, name) for name in State.__dataclass_fields__}
        AgentState.objects.filter(deployment=deployment).update(**columns)
        LessonsUse.objects.bulk_create(
            LessonsUse(deployment=deployment, content_hash=key, **use) for key, use in ledger.uses.items()
        )
        store_notes(deployment, notes)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete trading agents; one that has ticked since stays, with all of its own, and is the demo's no longer."""
        agents = Deployment.objects.filter(is_demo=True)
        kept = list(agents.filter(state__tick_at__gt=load.loaded_at).values_list("pk", flat=True))
        for model in (Trade, DecisionSnapshot, ReflectionNote):
            model.objects.filter(deployment__in=kept).update(is_demo=False)
        used = Deployment.objects.filter(pk__in=kept).values("version__skill")
        Skill.objects.filter(pk__in=used).update(is_demo=False)
        SkillVersion.objects.filter(skill__in=used).update(is_demo=False)
        agents.filter(pk__in=kept).update(is_demo=False)
        removed = RemovedRows(_("Trading agents"), agents.count(), len(kept))
        agents.delete()
        unused = Skill.objects.filter(is_demo=True).exclude(pk__in=Deployment.objects.values("version__skill"))
        unused.delete()
        return [removed]


def store_trades(deployment: Deployment, ledger: MemoryLedger) -> None:
    """Store what the ledger in memory holds, with the ticks that are kept."""
    ticks = dict(DecisionSnapshot.objects.filter(deployment=deployment).values_list("tick_at", "pk"))
    Trade.objects.bulk_create(
        Trade(
            **{name: value for name, value in vars(row).items() if name not in {"number", "is_held"}},
            owner_id=deployment.owner_id,
            deployment=deployment,
            skill_id=deployment.version.skill_id,
            skill_version=deployment.version.number,
            entry_snapshot_id=ticks.get(row.entry_tick_at),
            exit_snapshot_id=ticks.get(getattr(row, "exit_tick_at", None)),
            actor=AGENT_KEY,
            created_at=row.entry_tick_at,
            updated_at=getattr(row, "exit_tick_at", row.entry_tick_at),
            rules_version=RULES.version,
            is_demo=True,
        )
        for row in ledger.trades
    )


def store_notes(deployment: Deployment, notes: dict[datetime, str]) -> None:
    """Store revisions of the lessons, each made of the trades of the week before it."""
    for at, text in sorted(notes.items()):
        since = at - timedelta(days=7)
        trades = Trade.objects.filter(deployment=deployment, exit_tick_at__gt=since, exit_tick_at__lte=at)
        ReflectionNote.objects.create(
            owner_id=deployment.owner_id,
            skill_id=deployment.version.skill_id,
            version=deployment.version.number,
            deployment=deployment,
            status=NoteStatus.ACTIVE if at == max(notes) else NoteStatus.SUPERSEDED,
            generated_at=at,
            window_start=since,
            window_end=at,
            trades_considered=trades.count(),
            lessons_text=text,
            content_hash=hash_lessons_text(text),
            model_used="claude-haiku-5-5",
            input_tokens=2_140,
            output_tokens=310,
            cost_usd=Decimal("0.0037"),
            actor="job:lessons.reflect",
            created_at=at,
            rules_version=RULES.version,
            is_demo=True,
        )
