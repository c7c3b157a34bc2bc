"""What rebuilds read, bounded however much is unread, and what their owner called wrong. Source: S3."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet, Sum

from learning_app.ledger.core import TradeStatus
from learning_app.ledger.models import Trade
from learning_app.ledger.selectors import list_trades
from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.changes.models import Change
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.core.fence import fence_label
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.llm.gateway import what_is_missing
from minara_site.kernel.llm.models import LlmUsage
from minara_site.kernel.ownership import Owner
from profile_app.activity.adapters import SourceFailed, SourceRests, hyperliquid
from profile_app.activity.core.figures import Figures, figures_by_day, ms_of, sum_figures
from profile_app.activity.core.fills import UnreadableRow, read_fills
from profile_app.activity.models import PerpsFill, SpotActivity
from profile_app.activity.selectors import (
    has_exchange,
    has_gateway,
    list_accounts,
    list_fills,
    load_trading_profile,
)
from profile_app.capabilities import REBUILDS
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.core.wallets import EVM, parse_wallets
from profile_app.portrait.models import FinancialProfile, UserTagEvent
from profile_app.rebuild.core import Flow, RunOutcome
from profile_app.rebuild.core.memories import SLICE_CHARS, SLICE_TURNS, key_of
from profile_app.rebuild.models import RebuildRun

DAYS, MAX_GROUPS, MAX_SAMPLE, MAX_KNOWN, MAX_WRONG = 90, 15, 10, 2_000, 30
NOT_KNOWN, OFF, NO_MODEL = "not known", "off", "no_model"
CURSORS = {
    "trades": "trading_summary_last_trade_id_seen",
    "fills": "trading_summary_last_perps_fill_id_seen",
    "spot": "trading_summary_last_external_spot_id_seen",
}
"""The three cursors of the summary, by source."""


@dataclass(frozen=True, slots=True)
class TradeMaterial:
    """What is known of an owner's trades: `figures` for a model, counts of new rows, and where the cursors go."""

    figures: dict[str, Any]
    new: Mapping[str, int]
    before: Mapping[str, int]
    after: Mapping[str, int]


def load_trades(owner: User, profile: FinancialProfile, *, now: datetime) -> TradeMaterial:
    """Return the three sources side by side; the questions that they make have the same size whatever is unread."""
    sources: dict[str, Any] = {
        "trades": list_trades(owner=owner),
        "fills": list_fills(owner=owner),
        "spot": SpotActivity.objects.for_owner(owner),
    }
    before = {name: getattr(profile, column) for name, column in CURSORS.items()}
    new = {name: rows.filter(pk__gt=before[name]).count() for name, rows in sources.items()}
    after = {name: rows.aggregate(last=Max("pk"))["last"] or before[name] for name, rows in sources.items()}
    after = {name: max(last, before[name]) for name, last in after.items()}
    since = now - timedelta(days=DAYS)
    has_accounts = has_gateway(owner) or list_accounts(owner=owner).exists()
    trading = load_trading_profile(owner, now=now, days=DAYS)
    spot = {
        "at_the_exchange": figures_record(trading.spot) if has_accounts else NOT_KNOWN,
        "across_chains": spot_figures(owner, since=since) if has_gateway(owner) or after["spot"] else NOT_KNOWN,
    }
    figures = {
        "days": DAYS,
        "in_session_trades": session_figures(sources["trades"].filter(entry_tick_at__gte=since)),
        "perps": NOT_KNOWN
        if not has_accounts
        else figures_record(trading.perps) | {"markets": grouped_records(trading.by_market)},
        "spot": spot,
        "new_rows": new,
        "newest_fills": sample_of(sources["fills"].filter(pk__gt=before["fills"])),
    }
    return TradeMaterial(figures, new, before, after)


def figures_record(figures: Figures) -> dict[str, Any]:
    """Return figures as a model reads them, rounded to cents."""
    return {
        "fills": figures.fills,
        "volume_usd": cents(figures.volume_usd),
        "pnl_before_fees_usd": cents(figures.pnl_usd),
        "fees_usd": cents(figures.fees_usd),
        "closing_fills": figures.closing_fills,
        "won_closing_fills": figures.won_fills,
        "long_usd": cents(figures.long_usd),
        "short_usd": cents(figures.short_usd),
        "liquidations": figures.liquidations,
        "last_trade": figures.last_at.date().isoformat() if figures.last_at else None,
    }


def cents(amount: Decimal) -> str:
    """Return an amount to the cent."""
    return f"{amount:.2f}"


def grouped_records(groups: Mapping[str, Figures]) -> list[dict[str, Any]]:
    """Return the markets with the most volume, the others as one."""
    ranked = sorted(groups.items(), key=lambda each: (-each[1].volume_usd, each[0]))
    shown = [{"market": fence_label(name), **figures_record(figures)} for name, figures in ranked[:MAX_GROUPS]]
    others = sum_figures(figures for _name, figures in ranked[MAX_GROUPS:])
    return [*shown, {"market": "others", **figures_record(others)}] if others.fills else shown


def session_figures(trades: "QuerySet[Trade]") -> Any:
    """Return what agents traded in sessions, by symbol. One query."""
    closed = Q(status=TradeStatus.CLOSED)
    groups = (
        trades.values("symbol")
        .annotate(
            trades=Count("pk"),
            closed=Count("pk", filter=closed),
            won=Count("pk", filter=closed & Q(realized_pnl_usd__gt=0)),
            pnl=Sum("realized_pnl_usd"),
            size=Sum("entry_size_usd"),
        )
        .order_by("-trades", "symbol")[:MAX_GROUPS]
    )
    return [
        {
            "symbol": fence_label(row["symbol"]),
            "trades": row["trades"],
            "closed": row["closed"],
            "won": row["won"],
            "pnl_before_fees_usd": cents(row["pnl"] or Decimal(0)),
            "size_usd": cents(row["size"] or Decimal(0)),
        }
        for row in groups
    ] or "none"


def spot_figures(owner: User, *, since: datetime) -> Any:
    """Return swaps and transfers by kind and bought token. One query."""
    rows = SpotActivity.objects.for_owner(owner).filter(ts_ms__gte=ms_of(since))
    groups = rows.values("type", "to_token").annotate(n=Count("pk"), usd=Sum("value_usd")).order_by("-n")[:MAX_GROUPS]
    return [
        {
            "type": fence_label(row["type"]),
            "bought": fence_label(row["to_token"] or ""),
            "count": row["n"],
            "value_usd": cents(row["usd"]) if row["usd"] is not None else NOT_KNOWN,
        }
        for row in groups
    ] or "none"


def sample_of(fills: "QuerySet[PerpsFill]") -> list[dict[str, Any]]:
    """Return the newest of the new fills."""
    return [
        {
            "market": fence_label(fill.symbol),
            "direction": fence_label(fill.dir),
            "size_usd": cents(fill.size * fill.price),
            "pnl_usd": cents(fill.closed_pnl),
        }
        for fill in fills.only("symbol", "dir", "size", "price", "closed_pnl").order_by("-ts_ms", "-pk")[:MAX_SAMPLE]
    ]


def load_reference_wallets(owner: User, profile: FinancialProfile, *, now: datetime) -> list[dict[str, Any]]:
    """Return figures of the newest fills of each wallet that the owner follows; nothing of them is stored."""
    found: list[dict[str, Any]] = []
    for wallet in parse_wallets(profile.reference_wallets_json):
        figures: Any = NOT_KNOWN
        if has_exchange() and EVM.fullmatch(wallet.address):
            try:
                rows = hyperliquid.fetch_newest(wallet.address.lower())
                fills, _unreadable = read_fills(rows, wallet=wallet.address.lower(), latest_ms=ms_of(now))
                by_day = figures_by_day(reversed(fills))
                markets: dict[str, Figures] = {}
                for (_day, symbol), each in by_day.items():
                    markets.setdefault(symbol, Figures()).add(each)
                total = figures_record(sum_figures(markets.values()))
                figures = total | {"markets": grouped_records(markets)[:5]} if fills else "none"
            except (SourceFailed, SourceRests, UnreadableRow):
                figures = NOT_KNOWN
        found.append({"wallet": fence_label(wallet.label or f"wallet {len(found) + 1}"), "newest_fills": figures})
    return found


def load_slice(owner: User, cursor: int) -> list[Turn]:
    """Return the owner's next turns after a cursor in their order, as many as one question takes."""
    turns = Turn.objects.filter(session__owner_id=owner.pk, pk__gt=cursor).order_by("pk")[:SLICE_TURNS]
    chosen, chars = list[Turn](), 0
    for turn in turns:
        chars += min(len(turn.user_message), SLICE_CHARS)
        if chosen and chars > SLICE_CHARS:
            break
        chosen.append(turn)
    return chosen


def list_known(owner: User) -> "QuerySet[Memory]":
    """Return what is known of an owner, the newest first: what stands or is held, of every writer."""
    rows: QuerySet[Memory] = Memory.objects.for_owner(owner).filter(deleted_at__isnull=True, retired_at__isnull=True)
    kinds = (Category.PERSONALIZATION, Category.PREFERENCE, Category.FACT)
    return rows.filter(category__in=kinds).order_by("-updated_at", "-pk")[:MAX_KNOWN]


def list_wrong_memories(owner: User) -> list[str]:
    """Return inferred statements that their owner deleted, corrected or undid, the last first, while they are kept."""
    gone = Memory.objects.for_owner(owner).filter(source=Source.INFERRED, deleted_at__isnull=False)
    texts = gone.filter(actor=Flow.MEMORIES.actor).order_by("-deleted_at").values_list("content", flat=True)
    return [redact_text(text) for text in texts[:MAX_WRONG]]


def find_wrong_keys(owner: User) -> set[str]:
    """Return the keys of statements that rebuilds wrote and that are gone, also those whose texts are purged."""
    runs = list_runs(owner).filter(flow=Flow.MEMORIES, outcome=RunOutcome.WRITTEN)
    wrote = {int(line["key"]): line["hash"] for lines in runs.values_list("wrote", flat=True) for line in lines}
    rows = Memory.objects.filter(pk__in=wrote, deleted_at__isnull=True, retired_at__isnull=True)
    standing = rows.values_list("pk", flat=True)
    return {wrote[pk] for pk in wrote.keys() - set(standing)} | {key_of(text) for text in list_wrong_memories(owner)}


def find_wrong_tags(owner: User) -> set[tuple[str, str]]:
    """Return the inferred values, as stored, that their owner cleared, undid, or declared otherwise."""
    events = UserTagEvent.objects.for_owner(owner).filter(source_before=TagSource.INFERRED).exclude(kind="confirmed")
    ended = events.exclude(actor=Flow.TAGS.actor).values_list("name", "value_before", "value")
    return {(name, before) for name, before, value in ended if before != value}


def find_undone_hashes(owner: User, flow: Flow) -> set[str]:
    """Return the hashes of texts of runs that were undone."""
    runs = {run.subject: run for run in list_runs(owner).filter(flow=flow, outcome=RunOutcome.WRITTEN)}
    undone = Change.objects.filter(set__undoes__run__in=runs, set__undone_by__isnull=True)
    keys = set(undone.values_list("set__undoes__run", "key"))
    return {line["hash"] for subject, run in runs.items() for line in run.wrote if (subject, line["key"]) in keys}


def list_runs(owner: Owner) -> "QuerySet[RebuildRun]":
    """Return the runs of an owner, unordered."""
    rows: QuerySet[RebuildRun] = RebuildRun.objects.for_owner(owner)
    return rows


def load_costs(runs: Sequence[RebuildRun]) -> dict[str, dict[str, Any]]:
    """Return by subject what runs cost: model, tokens in and out, USD. One query."""
    usage = LlmUsage.objects.filter(subject__in=[run.subject for run in runs]).values("subject")
    sums = usage.annotate(
        model=Max("model"), input=Sum("input_tokens"), output=Sum("output_tokens"), usd=Sum("cost_usd")
    )
    return {row["subject"]: row for row in sums}


def why_not() -> str:
    """Return the code of why no rebuild asks now, empty when they do."""
    if settings.MINARA.minara_personalization_rebuild == "disabled" or mode_of(REBUILDS) is Mode.OFF:
        return OFF
    return NO_MODEL if what_is_missing() else ""


def list_written(owner: Owner) -> "QuerySet[RebuildRun]":
    """Return the runs that wrote something, the newest first, with their owners."""
    return list_runs(owner).filter(outcome=RunOutcome.WRITTEN).select_related("owner").order_by("-pk")


def list_last_runs(owner: User) -> list[RebuildRun]:
    """Return the newest run of each flow. Three queries."""
    found = (list_runs(owner).filter(flow=flow).order_by("-pk").first() for flow in Flow)
    return [run for run in found if run]


def has_unread_turns(owner_id: int, cursor: int) -> bool:
    """Say whether an owner has turns after a cursor."""
    return Turn.objects.filter(session__owner_id=owner_id, pk__gt=cursor).exists()


def wrong_labels(wrong: Collection[tuple[str, str]]) -> list[str]:
    """Return wrong pairs of dimension and value as a model reads them."""
    return [f"{name}: {value}" for name, value in sorted(wrong)]
