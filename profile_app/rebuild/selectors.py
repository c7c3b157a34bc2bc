"""What rebuilds read, bounded however much is unread, and what their owner called wrong. Source: S3."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Max, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce

from learning_app.ledger.core import TradeStatus
from learning_app.ledger.selectors import list_trades
from memory_app.memories.models import Memory
from minara_site.access.models import User
from minara_site.kernel.changes.models import Change
from minara_site.kernel.conversations.models import Turn
from minara_site.kernel.core.fence import fence_label
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.llm.gateway import what_is_missing
from minara_site.kernel.ownership import Owner
from profile_app.activity.adapters import SourceFailed, SourceRests, hyperliquid
from profile_app.activity.core.figures import Figures, ms_of, sum_figures
from profile_app.activity.core.fills import UnreadableRow, read_fills
from profile_app.activity.models import SpotActivity
from profile_app.activity.selectors import (
    has_exchange,
    has_gateway,
    list_accounts,
    list_fills,
    load_trading_profile,
)
from profile_app.capabilities import REBUILDS
from profile_app.documents.core import PROFILE_SUMMARY
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.core.wallets import EVM, parse_wallets
from profile_app.portrait.models import FinancialProfile, UserTagEvent
from profile_app.rebuild.core import Flow, RunOutcome
from profile_app.rebuild.core.memories import SLICE_CHARS, SLICE_TURNS, key_of
from profile_app.rebuild.models import RebuildRun

DAYS, MAX_GROUPS, MAX_SAMPLE, MAX_KNOWN, MAX_WRONG = 90, 15, 10, 2_000, 30
NOT_KNOWN = "not known"
CURSORS = {
    "trades": "trading_summary_last_trade_id_seen",
    "fills": "trading_summary_last_perps_fill_id_seen",
    "spot": "trading_summary_last_external_spot_id_seen",
}
"""The three cursors of the summary, by source."""
STANDS = {"deleted_at__isnull": True, "retired_at__isnull": True}


def load_trades(
    owner: User, profile: FinancialProfile, *, now: datetime
) -> tuple[dict[str, Any], dict[str, int], dict[str, int]]:
    """Return what is known of an owner's trades as a model reads it, and the cursors before and after that.

    The three sources stand side by side; a question about them has the same size whatever is unread.
    """
    sources: dict[str, Any] = {
        "trades": list_trades(owner=owner),
        "fills": list_fills(owner=owner),
        "spot": SpotActivity.objects.for_owner(owner),
    }
    before = {column: getattr(profile, column) for column in CURSORS.values()}
    unread = {name: rows.filter(pk__gt=before[CURSORS[name]]) for name, rows in sources.items()}
    new = {name: rows.count() for name, rows in unread.items()}
    after = {
        column: unread[name].aggregate(last=Max("pk"))["last"] or before[column] for name, column in CURSORS.items()
    }
    since, is_closed = now - timedelta(days=DAYS), Q(status=TradeStatus.CLOSED)
    has_accounts = has_gateway(owner) or list_accounts(owner=owner).exists()
    has_swaps = has_gateway(owner) or after[CURSORS["spot"]]
    trading = load_trading_profile(owner, now=now, days=DAYS)
    in_session = sources["trades"].filter(entry_tick_at__gte=since).values("symbol")
    in_session = in_session.annotate(
        trades=Count("pk"),
        closed=Count("pk", filter=is_closed),
        won=Count("pk", filter=is_closed & Q(realized_pnl_usd__gt=0)),
        pnl_before_fees_usd=Sum("realized_pnl_usd", default=Decimal(0)),
        size_usd=Sum("entry_size_usd"),
    )
    swaps = sources["spot"].filter(ts_ms__gte=ms_of(since)).values("type", bought=Coalesce("to_token", Value("")))
    swaps = swaps.annotate(count=Count("pk"), value_usd=Sum("value_usd")).order_by("-count", "type", "bought")
    swaps = [row | ({"value_usd": NOT_KNOWN} if row["value_usd"] is None else {}) for row in swaps[:MAX_GROUPS]]
    fills = unread["fills"].only("symbol", "dir", "size", "price", "closed_pnl")
    figures = {
        "days": DAYS,
        "in_session_trades": list(in_session.order_by("-trades", "symbol")[:MAX_GROUPS]) or "none",
        "perps": figures_record(trading.perps) | {"markets": market_records(trading.by_market)}
        if has_accounts
        else NOT_KNOWN,
        "spot": {
            "at_the_exchange": figures_record(trading.spot) if has_accounts else NOT_KNOWN,
            "across_chains": swaps or "none" if has_swaps else NOT_KNOWN,
        },
        "new_rows": new,
        "newest_fills": [
            {
                "market": fill.symbol,
                "direction": fill.dir,
                "size_usd": fill.size * fill.price,
                "pnl_usd": fill.closed_pnl,
            }
            for fill in fills.order_by("-ts_ms", "-pk")[:MAX_SAMPLE]
        ],
    }
    return readable(figures), before, after


def readable(data: Any) -> Any:
    """Return nested data as a model reads it: amounts to the cent, names that cannot close the fence."""
    if isinstance(data, dict):
        return {name: readable(each) for name, each in data.items()}
    if isinstance(data, list):
        return [readable(each) for each in data]
    if isinstance(data, Decimal):
        return f"{data:.2f}"
    return fence_label(data) if isinstance(data, str) else data


def figures_record(figures: Figures) -> dict[str, Any]:
    """Return figures by the names that a model reads."""
    return {
        "fills": figures.fills,
        "volume_usd": figures.volume_usd,
        "pnl_before_fees_usd": figures.pnl_usd,
        "fees_usd": figures.fees_usd,
        "closing_fills": figures.closing_fills,
        "won_closing_fills": figures.won_fills,
        "long_usd": figures.long_usd,
        "short_usd": figures.short_usd,
        "liquidations": figures.liquidations,
        "last_trade": figures.last_at.date().isoformat() if figures.last_at else None,
    }


def market_records(groups: Mapping[str, Figures]) -> list[dict[str, Any]]:
    """Return the markets with the most volume, the others as one."""
    ranked = sorted(groups.items(), key=lambda each: (-each[1].volume_usd, each[0]))
    if len(ranked) > MAX_GROUPS:
        others = sum_figures(figures for _name, figures in ranked[MAX_GROUPS:])
        ranked[MAX_GROUPS:] = [("others", others)]
    return [{"market": name} | figures_record(figures) for name, figures in ranked]


def load_reference_wallets(profile: FinancialProfile, *, now: datetime) -> Any:
    """Return figures of the newest fills of each wallet that the owner follows; nothing of them is stored."""
    found = []
    for number, wallet in enumerate(parse_wallets(profile.reference_wallets_json), 1):
        figures: Any = NOT_KNOWN
        address = wallet.address.lower()
        if has_exchange() and EVM.fullmatch(wallet.address):
            with suppress(SourceFailed, SourceRests, UnreadableRow):
                rows = hyperliquid.fetch_newest(address)
                fills, _unreadable = read_fills(rows, wallet=address, latest_ms=ms_of(now))
                markets: dict[str, Figures] = {}
                for fill in fills:
                    markets.setdefault(fill.symbol, Figures()).add_fill(fill)
                total = figures_record(sum_figures(markets.values()))
                figures = total | {"markets": market_records(markets)[:5]} if fills else "none"
        found.append({"wallet": wallet.label or f"wallet {number}", "newest_fills": figures})
    return readable(found)


def load_slice(owner: User, cursor: int) -> tuple[list[Turn], bool]:
    """Return the owner's next turns after a cursor, as many as one question takes, and whether there are more."""
    turns = list(Turn.objects.filter(session__owner_id=owner.pk, pk__gt=cursor).order_by("pk")[: SLICE_TURNS + 1])
    chars = accumulate(min(len(turn.user_message), SLICE_CHARS) for turn in turns[:SLICE_TURNS])
    fitting = sum(count <= SLICE_CHARS for count in chars)
    return turns[:fitting], fitting < len(turns)


def list_known(owner: User) -> "QuerySet[Memory, str]":
    """Return what is known of an owner, the newest first: what stands or is held, of every writer."""
    kinds = (Category.PERSONALIZATION, Category.PREFERENCE, Category.FACT)
    rows = Memory.objects.for_owner(owner).filter(category__in=kinds, **STANDS).order_by("-updated_at", "-pk")
    return rows.values_list("content", flat=True)[:MAX_KNOWN]


def list_wrong_memories(owner: User) -> list[str]:
    """Return inferred statements that their owner deleted, corrected or undid, the last first, while they are kept."""
    gone = Memory.objects.for_owner(owner).deleted().filter(source=Source.INFERRED, actor=Flow.MEMORIES.actor)
    return list(gone.order_by("-deleted_at").values_list("content", flat=True)[:MAX_WRONG])


def find_wrong_keys(owner: User) -> set[str]:
    """Return the keys of statements that rebuilds wrote and that are gone, also those whose texts are purged."""
    runs = list_written(owner).filter(flow=Flow.MEMORIES).values_list("wrote", flat=True)
    wrote = {int(line["key"]): line["hash"] for lines in runs for line in lines}
    for pk in Memory.objects.for_owner(owner).filter(**STANDS).values_list("pk", flat=True).iterator():
        wrote.pop(pk, None)
    return {*wrote.values(), *map(key_of, list_wrong_memories(owner))}


def find_wrong_tags(owner: User) -> set[tuple[str, str]]:
    """Return the inferred values, as stored, that their owner cleared, undid, or declared otherwise."""
    events = UserTagEvent.objects.for_owner(owner).filter(source_before=TagSource.INFERRED)
    ended = events.exclude(Q(kind="confirmed") | Q(actor=Flow.TAGS.actor) | Q(value_before=F("value")))
    return set(ended.values_list("name", "value_before"))


def find_undone_hashes(owner: User) -> set[str]:
    """Return the hashes of summaries that were undone."""
    wrote = {run.subject: run.wrote for run in list_written(owner).filter(flow=Flow.SUMMARY)}
    undone = Change.objects.for_owner(owner).filter(kind=PROFILE_SUMMARY, set__undone_by__isnull=True)
    texts = undone.filter(set__undoes__run__isnull=False).values_list("set__undoes__run", "key")
    return {line["hash"] for subject, key in texts for line in wrote.get(subject, ()) if line["key"] == key}


def list_written(owner: Owner) -> "QuerySet[RebuildRun]":
    """Return the runs that wrote something, the newest first, with their owners."""
    rows: QuerySet[RebuildRun] = RebuildRun.objects.for_owner(owner).filter(outcome=RunOutcome.WRITTEN)
    return rows.select_related("owner").order_by("-pk")


def why_not() -> str:
    """Return the code of why no rebuild asks now, empty when they do."""
    if settings.MINARA.minara_personalization_rebuild == "disabled" or mode_of(REBUILDS) is Mode.OFF:
        return "off"
    return "no_model" if what_is_missing() else ""
