"""The demo's trading cases. The demo's prices, which are its owners', judge them as if they were the instance's.

Every hour of the demo a methodology may get its next case, and every sixth the learning cron goes over what is due.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property, partial

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from learning_app.cases.models import CASE_KIND, INSTANCE, OWNER, CronRun, TradingCase
from learning_app.cases.regime import REGIME_BARS
from learning_app.cases.services.cron import ACTOR
from learning_app.cases.services.places import store_hints
from learning_app.cases.services.record import CaseDraft, Recorder, build_case, find_hinted
from learning_app.cases.services.rejudge import store_controls
from learning_app.cases.services.resolve import RESOLVED, close, is_expired, link_controls
from learning_app.cases.services.settle import count_tallies, settle
from learning_app.court.models import Block, Control
from learning_app.court.services.evidence import count_blocks, mark_survivors
from learning_app.methodologies.demo import DemoMethodology, MethodologiesPart, demo_methodologies
from learning_app.methodologies.models import CourtReading, LifecycleEvent, Methodology
from learning_app.vocabulary import OutcomeState
from minara_site.access.models import User
from minara_site.kernel.db import update_rows
from minara_site.kernel.demo import AGENT_KEY, DemoAct, DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.guard.services import delete_holds
from minara_site.kernel.market.models import PriceBar
from minara_site.kernel.market.moves import find_move
from minara_site.kernel.market.outcome import Direction, Outcome, change_pct, judge_change
from minara_site.kernel.market.regime import classify_regime

FIRST_HOUR = 30 * 24 - 1  # before the load: the demo has its prices from an hour earlier on
CRON_HOURS, SHOWN_RUNS = 6, 3
TICKS = {"v": Outcome.RIGHT, "x": Outcome.WRONG, "-": Outcome.UNCLEAR}


class DemoCase(DemoRow):
    """One case, recorded `hours_ago`; `decided_hours_ago` is given of one that was backdated. `hints` are names."""

    asset: str
    direction: Direction
    horizon_hours: int
    text: str
    decided_hours_ago: float | None = None
    hints: tuple[str, ...] = ()
    trade_ref: str = ""
    judged_by: str = INSTANCE


class CasesPart(DemoPart[DemoCase]):
    """Cases with hints and outcomes, what the court makes of them, and the last heartbeats of the cron."""

    name, rows = "trading_cases", read_rows(DemoCase, __package__)

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        load = replace(
            load,
            now=load.now.replace(minute=0, second=0, microsecond=0),
        )
        yield from super().acts(load)
        course = DemoHours(load)
        for hours in range(FIRST_HOUR, -1, -1):
            yield load.ago(hours), partial(course.run, load.ago(hours))

    def store(self, load: DemoLoad, owner: User, row: DemoCase) -> None:
        at = load.ago(row.hours_ago)
        found = demo_methodologies()
        hints = [found[name].uid for name in row.hints if name in found]
        decided_at = load.ago(row.decided_hours_ago or row.hours_ago)
        draft = CaseDraft(row.asset, row.text, row.direction, hints, row.horizon_hours, decided_at, row.trade_ref)
        store_case(owner, draft, judged_by=row.judged_by, now=at)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete the cases and what came of them. The court counts anew what real cases say of the demo's methods."""
        cases, methods = TradingCase.objects.filter(is_demo=True), Methodology.objects.filter(is_demo=True)
        ids, numbers = list(cases.values_list("pk", flat=True)), list(methods.values_list("pk", flat=True))
        LifecycleEvent.objects.filter(case_id__in=ids, is_demo=True).delete()
        delete_holds(kind=CASE_KIND, object_ids=ids)
        cases.delete()
        Block.objects.filter(case_id__in=ids).delete()
        Control.objects.filter(is_demo=True).delete()
        load.marked(CronRun).delete()
        count_tallies(numbers)
        methods.update(beats_chance=False)  # the mark goes with the cases, and nothing is told of it
        count_blocks(numbers, actor=load.actor, now=load.now)
        mark_survivors(now=load.now, is_demo=True)
        CourtReading.objects.filter(methodology__in=numbers).delete()
        return [RemovedRows(_("Trading cases"), len(ids))]


def store_case(
    owner: User,
    draft: CaseDraft,
    *,
    judged_by: str = INSTANCE,
    now: datetime,
) -> None:
    """Store a case of the demo as an agent records it; `judged_by` says whose prices the demo's shall be."""
    case, hinted = build_case(draft, find_hinted(draft.hints), by=Recorder(owner.pk, AGENT_KEY), now=now)
    bars = PriceBar.objects.filter(
        owner=owner,
        symbol=case.asset,
        is_demo=True,
        closes_at__lte=case.decided_at,
    )
    newest = list(bars.order_by("-closes_at").values_list("close", flat=True)[:REGIME_BARS])
    case.regime, case.is_demo = classify_regime(newest[::-1]), True
    case.judged_by = judged_by if judged_by == OWNER else ""
    case.had_price = bool(newest) and judged_by == INSTANCE
    store_judged(CASE_KIND, case, now=now)
    store_hints([(case, hinted)])


@dataclass
class DemoHours:
    """What happens hour by hour in the story: how many cases a methodology has by then, and when the last one came."""

    load: DemoLoad
    done: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    last_at: dict[str, datetime] = field(default_factory=dict)

    @cached_property
    def closes(self) -> dict[tuple[int, str], dict[datetime, Decimal]]:
        """The demo's prices by owner and symbol, then by moment."""
        found: defaultdict[tuple[int, str], dict[datetime, Decimal]] = defaultdict(dict)
        bars = PriceBar.objects.filter(is_demo=True).values_list("owner_id", "symbol", "closes_at", "close")
        for owner_id, symbol, at, close_price in bars:
            found[owner_id, symbol][at] = close_price
        return found

    def run(self, at: datetime) -> None:
        """Record the cases of an hour, and resolve what is due when the cron runs."""
        for name, rows in MethodologiesPart.rows.items():
            for row in rows:
                self.record_next(self.load.people[name], row, at)
        if at.hour % CRON_HOURS == 0:
            self.resolve(at)

    def record_next(
        self,
        owner: User,
        row: DemoMethodology,
        at: datetime,
    ) -> None:
        """Record the next case of a methodology if it is time, and a price goes the way that its outcome wants."""
        number = self.done[row.name]
        earliest = self.last_at.get(row.name, self.load.ago(row.hours_ago)) + timedelta(hours=row.every_hours)
        if number == len(row.outcomes) or at < earliest:
            return
        asset = self.find_asset(owner, row, number, at)
        found = demo_methodologies() if asset else {}
        if row.name not in found:
            return
        self.done[row.name], self.last_at[row.name] = number + 1, at
        beside = [found[row.beside].uid] if number % 2 and row.beside in found else []
        decided_at = at - timedelta(minutes=7 * number % 53)  # so that the first price after it is this hour's
        draft = CaseDraft(
            asset,
            row.texts[number % len(row.texts)].format(asset=asset, price=f"{self.closes[owner.pk, asset][at]:,.2f}"),
            Direction(row.draft["direction"]),
            [found[row.name].uid, *beside],
            row.horizon_hours,
            decided_at,
            f"T-{row.first_trade + 9 * number}" if row.first_trade else "",
        )
        store_case(owner, draft, now=decided_at)

    def find_asset(
        self,
        owner: User,
        row: DemoMethodology,
        number: int,
        at: datetime,
    ) -> str:
        """Return an asset whose price moves as the outcome of this number wants, empty when none does."""
        for place in range(len(row.assets)):
            asset = row.assets[(number + place) % len(row.assets)]
            closes = self.closes[owner.pk, asset]
            before, after = closes.get(at), closes.get(at + timedelta(hours=row.horizon_hours))
            if before and after:
                direction, band = Direction(row.draft["direction"]), settings.MINARA.noise_band_pct
                judged = judge_change(
                    change_pct(before, after),
                    direction,
                    band_pct=band,
                )
                if judged.outcome is TICKS[row.outcomes[number]]:
                    return asset
        return ""

    def resolve(self, at: datetime) -> None:
        """Close and attribute what is due, as the cron does; the last passes leave their heartbeats."""
        due = TradingCase.objects.due(now=at).filter(is_demo=True)
        cases = [case for case in due.order_by("window_ends_at", "pk") if has_closed(case, now=at)]
        credited = 0
        if cases:
            link_controls(cases)
            update_rows(TradingCase, RESOLVED, cases)
            credited = settle([case.pk for case in cases], actor=ACTOR, now=at)
        for control in Control.objects.filter(is_demo=True, known_at__isnull=True, due_at__lt=at):
            store_controls([control], owner_id=control.cases.values_list("owner", flat=True)[0], now=at)
        if at > self.load.ago(SHOWN_RUNS * CRON_HOURS):
            survivors = mark_survivors(now=at, is_demo=True)
            counts = {
                "resolved": len(cases),
                "credited": credited,
                "survivors": survivors,
                "demoted": 0,
            }
            times = {"started_at": at - timedelta(seconds=2), "ended_at": at}
            self.load.mark(
                CronRun.objects.create(
                    **times,
                    requested_by=ACTOR,
                    is_ok=True,
                    counts=counts,
                )
            )


def has_closed(case: TradingCase, *, now: datetime) -> bool:
    """Say whether a case is over by now, by a price of its owner in the demo or without one; it is not stored yet."""
    move = find_move(case.asset, case.window, owner_id=case.owner_id, now=now)
    if move is not None:
        close(case, move, by=case.judged_by or INSTANCE)
    elif is_expired(case, now=now):
        case.outcome_state = OutcomeState.EXPIRED
    if case.outcome_state == OutcomeState.PENDING:
        return False
    case.resolved_at = now
    return True
