"""The demo's decisions with their outcomes, prices and reflections."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from pydantic import JsonValue

from memory_app.capabilities import ROLE_REFLECTION
from memory_app.roles.core import DECISION_KIND, LESSON_KIND, Classification, SkipReason, Status
from memory_app.roles.core.declarations import PriceDelta
from memory_app.roles.demo.calls import MAIN, remove_calls, store_calls
from memory_app.roles.demo.prices import PRICED_HOURS, SOURCE, price, store_prices
from memory_app.roles.models import RoleMemory, RoleState
from memory_app.roles.registry import registry
from memory_app.roles.selectors import subject_of
from memory_app.roles.services.guarded import rescan_entries
from memory_app.roles.services.record import content_hash
from minara_site.access.models import User
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.demo import (
    AGENT_KEY,
    DemoAct,
    DemoLoad,
    DemoPart,
    DemoRow,
    RemovedRows,
    publish_rows,
    read_rows,
)
from minara_site.kernel.events import role_memory_changed
from minara_site.kernel.governance.models import ShadowDecision
from minara_site.kernel.governance.services import delete_shadows
from minara_site.kernel.guard.services import delete_holds
from minara_site.kernel.llm.core.prices import PRICES, Tokens, cost_of
from minara_site.kernel.market.models import PriceBar
from minara_site.kernel.market.outcome import Direction, Outcome, change_pct, judge_change

REFLECTED_AFTER = timedelta(minutes=14)
ROLES = load_toml(__package__, "roles.toml")


class DemoDecision(DemoRow):
    """One decision, recorded `hours_ago`; `decided_hours_ago` is given of one that was backdated.

    With a class it has been reflected; `lesson` is the answer of Stage 2, `shadow` the one of shadow mode.
    `missing_inputs` are stored as None. `closes`: the sweep has judged its price. `marked` is the outcome that a person
    marked of one without a probe, with the change in percent and a note.
    """

    decided_hours_ago: float | None = None
    role: str
    text: str
    asset: str = ""
    direction: Direction | None = None
    inputs: dict[str, JsonValue]
    missing_inputs: tuple[str, ...] = ()
    closes: bool = True
    classification: Classification | None = None
    narrative: str = ""
    lesson: str = ""
    headlines: tuple[str, ...] = ()
    marked: tuple[bool, float, str] | None = None
    skipped: SkipReason | None = None
    error: str = ""
    shadow: str = ""


class DecisionsPart(DemoPart[DemoDecision]):
    """Decisions, prices, model calls and the states of roles, all at full hours as the prices are."""

    name, rows = "decisions", read_rows(DemoDecision, __package__, "decisions.toml")

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        load = replace(
            load,
            now=load.now.replace(minute=0, second=0, microsecond=0),
        )
        for name in self.rows:
            owner = load.people[name]
            prices = partial(
                store_prices,
                owner,
                now=load.now,
                every=1 if owner.is_default else 4,
            )
            yield load.ago(PRICED_HOURS), prices
        yield from super().acts(load)
        yield load.now, partial(store_states, load)
        yield load.now, partial(publish_rows, role_memory_changed, "entry_ids", RoleMemory.objects.filter(is_demo=True))

    def store(self, load: DemoLoad, owner: User, row: DemoDecision) -> None:
        entry = build_entry(load, owner, row)
        add_outcome(entry, row)
        close(entry, row, load.now)
        entry.save(force_insert=True)
        rescan_entries([entry], now=entry.created_at)
        store_calls(load, entry)
        if row.shadow:
            written = {
                "outcome": entry.outcome,
                "pnl_pct": entry.pnl_pct,
                **ROLES["shadow"],
                "lesson": row.shadow,
            }
            ShadowDecision.objects.create(
                capability=ROLE_REFLECTION.name,
                subject=subject_of(entry.pk),
                owner=owner,
                decision=written,
                model=MAIN,
                cost_usd=cost_of(PRICES[MAIN], Tokens(1_412, 63)),
                at=entry.decided_at + timedelta(days=1.1),
            )

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        entries = RoleMemory.objects.filter(is_demo=True)
        by_person = Q(outcome_at__gt=load.loaded_at, outcome_by__contains=":")  # an actor, not a probe
        marked = entries.filter(by_person | Q(mark__isnull=False))
        kept = marked.update(is_demo=False)
        publish_rows(role_memory_changed, "entry_ids", entries)
        delete_shadows([subject_of(entry.pk) for entry in entries])
        for kind in (DECISION_KIND, LESSON_KIND):
            delete_holds(kind=kind, object_ids=[entry.pk for entry in entries])
        removed = RemovedRows(_("Decisions"), entries.count(), kept)
        entries.delete()
        prices = PriceBar.objects.filter(is_demo=True).delete()[0]
        load.marked(RoleState).exclude(last_triggered_at__gt=load.loaded_at).delete()
        remove_calls(load)
        return [removed, RemovedRows(_("Prices"), prices)]


def build_entry(load: DemoLoad, owner: User, row: DemoDecision) -> RoleMemory:
    """Return the unsaved row of a decision, as it was when it was recorded."""
    named = {"asset": row.asset, "direction": row.direction} if row.asset else {}
    inputs: dict[str, Any] = {
        **named,
        **row.inputs,
        **dict.fromkeys(row.missing_inputs),
    }
    return RoleMemory(
        owner=owner,
        role_id=row.role,
        skill_id=ROLES["skills"][row.role],
        asset=row.asset,
        direction=row.direction or "",
        inputs=inputs,
        decision=row.text,
        decided_at=load.ago(row.decided_hours_ago or row.hours_ago),
        is_backdated=row.decided_hours_ago is not None,
        actor=AGENT_KEY,
        content_hash=content_hash(row.role, inputs, row.text),
        created_at=load.ago(row.hours_ago),
        is_demo=True,
    )


def add_outcome(entry: RoleMemory, row: DemoDecision) -> None:
    """Fill in what the prices say, or the person who marked it."""
    if row.marked is not None:
        is_right, entry.pnl_pct, entry.outcome_note = row.marked
        entry.outcome = Outcome.RIGHT if is_right else Outcome.WRONG
        entry.outcome_at, entry.outcome_by = entry.decided_at + timedelta(days=4), f"user:{entry.owner_id}"
        return
    declared = registry().find(row.role)
    if not row.closes or declared is None or not isinstance(declared.policy.outcome_probe, PriceDelta):
        return
    hours, begun_at = declared.policy.outcome_probe.window_hours, entry.window_starts_at
    before, after = price(row.asset, row.hours_ago), price(row.asset, row.hours_ago - hours)
    judged = judge_change(
        change_pct(before, after),
        Direction(row.direction or ""),
        band_pct=settings.MINARA.noise_band_pct,
    )
    entry.outcome, entry.pnl_pct, entry.outcome_by = judged.outcome, judged.pnl_pct, "price_delta"
    entry.outcome_at = begun_at + timedelta(hours=hours)
    entry.entry_price, entry.entry_price_at = before, begun_at
    entry.exit_price, entry.exit_price_at = after, entry.outcome_at


def close(entry: RoleMemory, row: DemoDecision, now: datetime) -> None:
    """Reflect on an entry, skip it, or leave it pending, as its row says."""
    if row.skipped:
        entry.status, entry.skip_reason = Status.SKIPPED, row.skipped
    elif row.error:
        entry.attempts, entry.last_error, entry.next_try_at = 2, row.error, now + timedelta(minutes=80)
    elif entry.outcome_at and (entry.outcome == Outcome.RIGHT or row.classification):
        known_at = max(entry.outcome_at, entry.created_at)  # what was recorded late is reflected later still
        entry.status, entry.reflected_at = Status.REFLECTED, known_at + REFLECTED_AFTER
        if row.classification:
            entry.classification, entry.narrative = row.classification, row.narrative
            entry.lesson, entry.evidence = row.lesson, [*list_evidence(entry, row.headlines)]


def list_evidence(entry: RoleMemory, headlines: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Yield what the stages read besides the outcome."""
    at_decision, at_outcome = (entry.entry_price, entry.entry_price_at), (entry.exit_price, entry.exit_price_at)
    for moment, (amount, at) in (("decision", at_decision), ("outcome", at_outcome)):
        if amount and at:
            label, text = f"{entry.asset} at the {moment}", f"{amount} ({SOURCE})"
            yield {
                "kind": "price",
                "label": label,
                "at": at.isoformat(),
                "text": text,
            }
    seen_at = (entry.decided_at + timedelta(hours=6)).isoformat()
    for text in headlines:
        yield {"kind": "news", "label": "Headline", "at": seen_at, "text": text}


def store_states(load: DemoLoad) -> None:
    """Store when roles reflected last, unless they really have."""
    for role_id, (hours_ago, fields) in ROLES["states"].items():
        at = load.ago(hours_ago)
        times = {"last_triggered_at": at, "last_finished_at": at + timedelta(seconds=9)}
        row, is_new = RoleState.objects.get_or_create(role_id=role_id, defaults={**fields, **times})
        if is_new:
            load.mark(row)
