"""The demo's role memory: prices, decisions with what came of them, the model calls that this took, and their removal.

What calls cost is added to the windows of the budget and taken out again, so that the windows equal the calls.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import F

from memory_app.capabilities import ROLE_REFLECTION
from memory_app.roles.core import DECISION_KIND, LESSON_KIND, Status
from memory_app.roles.core.declarations import PriceDelta
from memory_app.roles.models import RoleMemory, RoleState
from memory_app.roles.registry import registry
from memory_app.roles.services.record import content_hash
from memory_app.roles.services.stages import STAGE_ONE, STAGE_TWO, subject_of
from minara_site.access.models import User
from minara_site.console.demo.content import DemoDecision
from minara_site.console.demo.prices import SOURCE, load_prices, price
from minara_site.console.models import DemoObject
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.events import role_memory_changed, send_after_commit
from minara_site.kernel.governance.models import ShadowDecision
from minara_site.kernel.governance.services import forget_shadows
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.services import delete_holds, place_hold
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.prices import PRICES, Tokens, cost_of
from minara_site.kernel.llm.core.windows import windows_of
from minara_site.kernel.llm.models import BudgetWindow, LlmUsage
from minara_site.kernel.market.models import PriceBar
from minara_site.kernel.market.outcome import Outcome, change_pct, judge_change

USAGE, WINDOWS, STATES = "llm_usage", "budget_windows", "role_states"
AGENT_KEY = "key:demo"
FAST, MAIN = "claude-haiku-5-5", "claude-sonnet-5-5"
REFLECTED_AFTER = timedelta(minutes=4)
ROLES = load_toml(__package__, "roles.toml")


@dataclass(frozen=True, slots=True)
class Call:
    """A model call of the story."""

    task: str
    model: str
    tokens: Tokens
    at: datetime
    owner_id: int
    subject: str

    @property
    def cost_usd(self) -> Decimal:
        return cost_of(PRICES[self.model], self.tokens)


def load_roles(stories: Sequence[tuple[User, Sequence[DemoDecision]]], *, now: datetime) -> None:
    """Load prices, decisions and calls of these owners."""
    full_hour = now.replace(minute=0, second=0, microsecond=0)
    for owner, decisions in stories:
        load_prices(owner, now=full_hour, every=1 if owner.is_default else 4)
        for decision in sorted(decisions, key=lambda each: -each.days_ago):
            load_decision(owner, decision, now=full_hour)
        entries = RoleMemory.objects.filter(owner=owner, is_demo=True).values_list("pk", flat=True)
        send_after_commit(role_memory_changed, owner_id=owner.pk, entry_ids=tuple(entries))
    for role_id, state in ROLES["states"].items():
        load_state(role_id, state, now=full_hour)


def load_decision(owner: User, decision: DemoDecision, *, now: datetime) -> None:
    """Store one decision with what came of it."""
    entry = entry_of(owner, decision, now)
    add_outcome(entry, decision, now)
    close(entry, decision, now)
    verdict = guard.judge(entry.guarded_text)
    entry.rules_version = verdict.rules_version
    entry.held_at = entry.created_at if verdict.is_held else None
    entry.save(force_insert=True)
    if verdict.is_held:
        place_hold(
            kind=DECISION_KIND,
            object_id=entry.pk,
            owner_id=owner.pk,
            text=entry.guarded_text,
            verdict=verdict,
            actor=AGENT_KEY,
            now=entry.created_at,
        )
    if decision.shadow:
        keep_shadow(entry, decision, now=now)
    ask_models(entry)


def entry_of(owner: User, decision: DemoDecision, now: datetime) -> RoleMemory:
    """Return the unsaved row of a decision, as it was when it was recorded."""
    decided_at = now - timedelta(days=decision.days_ago)
    named = {"asset": decision.asset, "direction": decision.direction} if decision.asset else {}
    inputs: dict[str, Any] = {**named, **decision.inputs, **dict.fromkeys(decision.missing_inputs)}
    return RoleMemory(
        owner=owner,
        role_id=decision.role,
        skill_id=ROLES["skills"][decision.role],
        asset=decision.asset,
        direction=decision.direction or "",
        inputs=inputs,
        decision=decision.text,
        decided_at=decided_at,
        is_backdated=decision.backdated_days > 0,
        actor=AGENT_KEY,
        content_hash=content_hash(decision.role, inputs, decision.text),
        created_at=decided_at + timedelta(days=decision.backdated_days),
        is_demo=True,
    )


def add_outcome(entry: RoleMemory, decision: DemoDecision, now: datetime) -> None:
    """Fill in what the prices say, or the person who marked it."""
    if decision.marked is not None:
        is_right, change, note = decision.marked
        entry.outcome = Outcome.RIGHT if is_right else Outcome.WRONG
        entry.outcome_at, entry.outcome_by = entry.decided_at + timedelta(days=4), f"user:{entry.owner_id}"
        entry.pnl_pct, entry.outcome_note = change, note
        return
    declared = registry().find(decision.role)
    if not decision.closes or declared is None or not isinstance(declared.policy.outcome_probe, PriceDelta):
        return
    days = declared.policy.outcome_probe.window_hours / 24
    before, after = price(entry.asset, decision.days_ago), price(entry.asset, decision.days_ago - days)
    assert decision.direction is not None
    judged = judge_change(change_pct(before, after), decision.direction, band_pct=settings.MINARA.noise_band_pct)
    entry.outcome, entry.pnl_pct, entry.outcome_by = judged.outcome, judged.pnl_pct, "price_delta"
    entry.outcome_at = entry.decided_at + timedelta(days=days)
    entry.entry_price, entry.entry_price_at = before, entry.decided_at
    entry.exit_price, entry.exit_price_at = after, entry.outcome_at


def close(entry: RoleMemory, decision: DemoDecision, now: datetime) -> None:
    """Reflect on an entry, skip it, or let it wait, as its story says."""
    if decision.skipped:
        entry.status, entry.skip_reason = Status.SKIPPED, decision.skipped
    elif decision.error:
        entry.attempts, entry.last_error, entry.next_try_at = 2, decision.error, now + timedelta(minutes=80)
    elif entry.outcome_at and (entry.outcome == Outcome.RIGHT or decision.classification):
        known_at = max(entry.outcome_at, entry.created_at)  # what was recorded late is reflected later still
        entry.status, entry.reflected_at = Status.REFLECTED, known_at + REFLECTED_AFTER
        if decision.classification:
            entry.classification, entry.narrative = decision.classification, decision.narrative
            entry.lesson, entry.evidence = decision.lesson, evidence_of(entry, decision)


def evidence_of(entry: RoleMemory, decision: DemoDecision) -> list[dict[str, Any]]:
    """Return what the stages read besides the outcome."""
    pieces = [
        (f"{entry.asset} at the decision", entry.entry_price, entry.entry_price_at),
        (f"{entry.asset} at the outcome", entry.exit_price, entry.exit_price_at),
    ]
    prices = [piece("price", label, f"{amount} ({SOURCE})", at) for label, amount, at in pieces if amount and at]
    seen_at = entry.decided_at + timedelta(hours=6)
    return prices + [piece("news", "Headline", text, seen_at) for text in decision.headlines]


def piece(kind: str, label: str, text: str, at: datetime) -> dict[str, Any]:
    """Return one piece of evidence as the row keeps it."""
    return {"kind": kind, "label": label, "at": at.isoformat(), "text": text}


def keep_shadow(entry: RoleMemory, decision: DemoDecision, *, now: datetime) -> None:
    """Keep what the reflection would have written while it ran in shadow."""
    ShadowDecision.objects.create(
        capability=ROLE_REFLECTION.name,
        subject=subject_of(entry),
        owner=entry.owner,
        decision={
            "outcome": entry.outcome,
            "pnl_pct": entry.pnl_pct,
            **ROLES["shadow"],
            "lesson": decision.shadow,
        },
        model=MAIN,
        cost_usd=cost_of(PRICES[MAIN], Tokens(1_412, 63)),
        at=now - timedelta(days=decision.days_ago - 1.1),
    )


def ask_models(entry: RoleMemory) -> None:
    """Keep the calls that an entry took, and name them in it."""
    if entry.reflected_at is None or not entry.classification:
        return
    length = len(entry.decision) + len(entry.narrative)
    first = keep_call(Call(STAGE_ONE, FAST, Tokens(980 + length, 120 + length // 6), *about(entry)))
    ids = {"stage1_usage_id": first.pk}
    if entry.lesson:
        second = Tokens(1_240 + length, 60 + len(entry.lesson) // 4, cache_read=860)
        ids["stage2_usage_id"] = keep_call(Call(STAGE_TWO, MAIN, second, *about(entry))).pk
    RoleMemory.objects.filter(pk=entry.pk).update(**ids)


def about(entry: RoleMemory) -> tuple[datetime, int, str]:
    """Return when a call about an entry was made, whose data it was about, and the entry's name."""
    return entry.reflected_at or entry.created_at, entry.owner_id, subject_of(entry)


def keep_call(call: Call) -> LlmUsage:
    """Store one call and add it to the windows of its day."""
    day = call.at.date()
    usage: LlmUsage = LlmUsage.objects.create(
        category=Category.LEARNING,
        task=call.task,
        model=call.model,
        input_tokens=call.tokens.input,
        output_tokens=call.tokens.output,
        cache_read_tokens=call.tokens.cache_read,
        cost_usd=call.cost_usd,
        date=day,
        ts=call.at,
        owner_id=call.owner_id,
        subject=call.subject,
    )
    DemoObject.objects.create(table=USAGE, object_id=str(usage.pk))
    for window in windows_of(Category.LEARNING, day):
        row, is_new = BudgetWindow.objects.get_or_create(category=window.category, window=window.name)
        if is_new:
            DemoObject.objects.create(table=WINDOWS, object_id=str(row.pk))
        count(row, usage.cost_usd, 1)
    return usage


def count(row: BudgetWindow, amount: Decimal, calls: int) -> None:
    """Add to what a window has spent, exactly: SQLite adds in binary fractions."""
    row.spent_usd += amount
    BudgetWindow.objects.filter(pk=row.pk).update(spent_usd=row.spent_usd, calls=F("calls") + calls)


def load_state(role_id: str, state: dict[str, Any], *, now: datetime) -> None:
    """Say when a role reflected last, unless it really has."""
    at = now - timedelta(hours=state["hours_ago"])
    fields = {
        "last_trigger": state["trigger"],
        "last_triggered_at": at,
        "last_finished_at": at + timedelta(seconds=9),
        "last_result": state["result"],
        "dropped": state["dropped"],
    }
    _row, is_new = RoleState.objects.get_or_create(role_id=role_id, defaults=fields)
    if is_new:
        DemoObject.objects.create(table=STATES, object_id=role_id)


def remove_roles() -> None:
    """Remove all of it, and take out of the windows what the demo's calls added."""
    ids = list(RoleMemory.objects.filter(is_demo=True).values_list("pk", flat=True))
    owners = set(RoleMemory.objects.filter(is_demo=True).values_list("owner_id", flat=True))
    RoleMemory.objects.filter(pk__in=ids).delete()
    for kind in (DECISION_KIND, LESSON_KIND):
        delete_holds(kind=kind, object_ids=ids)
    forget_shadows([f"role_memory:{pk}" for pk in ids])
    PriceBar.objects.filter(is_demo=True).delete()
    RoleState.objects.filter(pk__in=marked(STATES)).delete()
    take_back(LlmUsage.objects.filter(pk__in=list(marked(USAGE))))
    for owner_id in User.objects.filter(pk__in=owners).values_list("pk", flat=True):
        send_after_commit(role_memory_changed, owner_id=owner_id, entry_ids=tuple(ids))


def marked(table: str) -> Iterable[str]:
    """Return the keys of the demo's rows of a table."""
    return DemoObject.objects.filter(table=table).values_list("object_id", flat=True)


def take_back(calls: Any) -> None:
    """Remove calls, what they added to the windows, and the windows that the demo began and nobody else used."""
    for usage in calls:
        for window in windows_of(Category(usage.category), usage.date):
            row = BudgetWindow.objects.get(category=window.category, window=window.name)
            count(row, -usage.cost_usd, -1)
    calls.delete()
    began = BudgetWindow.objects.filter(pk__in=list(marked(WINDOWS)))
    began.filter(calls=0, spent_usd=0, cap_usd__isnull=True, warned_at__isnull=True).delete()
