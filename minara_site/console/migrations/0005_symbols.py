"""Symbols that were stored under another reading are read again, by the table of venues; operators get the list once."""

import re
from collections import defaultdict
from typing import Any, ClassVar

from django.db import migrations, models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from memory_app.index.core.document import Kind
from memory_app.index.documents import reindex_rows
from minara_site.kernel.core.assets import TICKERS, AssetGroup, group_of
from minara_site.kernel.core.symbols import QUOTES, asset_in, normalise_symbol
from minara_site.kernel.core.venues import AFTER, BEFORE, BUILDERS, CLEAR, PLAIN

SLICE = 500
KINDS = ("cases", "decisions", "runs", "prices", "links")
ALERTS = ("band", "heartbeat", "budget", "hold", "proposal", "job", "backup", "writes", "symbols")
NAMED_AS_VENUES = {"NDX": "NASDAQ", "COIN": "COINBASE", "HYPE": "HYPERLIQUID"}
"""Assets whose name is a venue's: `NASDAQ:AAPL` was stored as `NDX/AAPL`."""
DATE = re.compile(r"[0-9]{6}|[0-9]{1,2}[A-Z]{3}[0-9]{2}")


def read_again(stored: str) -> str:
    """Return what a stored symbol is today; what names no price, or may be right, stays as it is."""
    first, _slash, second = stored.partition("/")
    return normalise_symbol(sent_as(first, second) if second else stored) or stored


def sent_as(first: str, second: str) -> str:
    """Return how the halves of a pair were sent: with a venue before or behind, as a dated future, or as a pair."""
    venue = NAMED_AS_VENUES.get(first) or (first if first in BEFORE and first not in TICKERS else "")
    is_coin = group_of(second) is AssetGroup.CRYPTO
    if first in BUILDERS or (second in AFTER and second not in TICKERS):
        return f"{first}:{second}"
    if second in QUOTES:
        return f"{first}:{second}" if first in CLEAR and first not in TICKERS else f"{first}/{second}"
    if venue and not (is_coin and (first in TICKERS or BEFORE[venue] != PLAIN)):  # HYPE/SOL may be right
        return f"{venue}:{second}"
    if DATE.fullmatch(second):
        return f"{first}-{second}"
    is_market = second in TICKERS and not is_coin and first not in TICKERS
    return f"{first}:{second}" if is_market else f"{first}/{second}"


def changed_in(rows: Any, column: str) -> dict[str, str]:
    """Return the stored symbols of a column that are read otherwise today, with what they are."""
    stored = rows.order_by().values_list(column, flat=True).distinct()
    return {symbol: today for symbol in stored if symbol and (today := read_again(symbol)) != symbol}


def decided_today(stored: str, inputs: Any) -> str:
    """Return what the asset of a decision is today: where a venue may be half of it, as its inputs have it."""
    sent = inputs.get("asset") if isinstance(inputs, dict) and "/" in stored else None
    return (normalise_symbol(sent) if isinstance(sent, str) and ":" in sent else None) or read_again(stored)


Counts = defaultdict[tuple[str, str], dict[str, int]]


def read_stored_symbols(apps: Any, schema_editor: Any) -> None:
    """Read again what is open, every price and every link; what both readings have keeps the one that stands."""
    alias = schema_editor.connection.alias

    def rows_of(app: str, model: str) -> Any:
        return apps.get_model(app, model).objects.using(alias)

    counts: Counts = defaultdict(lambda: dict.fromkeys(KINDS, 0))
    cases = rows_of("learning_app", "TradingCase").filter(outcome_state="pending")
    for was, today in changed_in(cases, "asset").items():
        counts[was, today]["cases"] += cases.filter(asset=was).update(asset=today)
    unscored = rows_of("learning_app", "InstitutionReflection").filter(scored_at__isnull=True).values("run")
    runs = rows_of("learning_app", "InstitutionRun").filter(Q(ended_at__isnull=True) | Q(pk__in=unscored))
    for was, today in changed_in(runs, "ticker").items():
        counts[was, today]["runs"] += runs.filter(ticker=was).update(ticker=today)
    read_decisions(rows_of("memory_app", "RoleMemory").filter(status="pending"), counts, alias)
    read_prices(rows_of("kernel", "PriceBar"), ("closes_at", "interval_seconds"), counts)
    read_prices(rows_of("kernel", "PricePoint"), ("at",), counts)
    read_links(rows_of("memory_app", "MemoryEdge").filter(dst_entity_kind="ticker"), counts)
    list_for_operators(apps, alias, counts)


def read_decisions(entries: Any, counts: Counts, alias: str) -> None:
    """Read the assets of pending decisions again, and index them anew."""
    changed: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for pk, stored, inputs in entries.exclude(asset="").values_list("pk", "asset", "inputs").iterator(SLICE):
        if (today := decided_today(stored, inputs)) != stored:
            changed[stored, today].append(pk)
    for (was, today), ids in changed.items():
        for start in range(0, len(ids), SLICE):
            chosen = ids[start : start + SLICE]
            entries.filter(pk__in=chosen).update(asset=today, embedding_state="pending")
            reindex_rows(Kind.ROLE_MEMORY, chosen, using=alias)
        counts[was, today]["decisions"] += len(ids)


def read_prices(prices: Any, key: tuple[str, ...], counts: Counts) -> None:
    """Move prices to their symbol of today; of one moment and owner the one that stands there stays."""
    for was, today in changed_in(prices, "symbol").items():
        stands = prices.filter(symbol=today, **{name: OuterRef(name) for name in key})
        moved = prices.filter(symbol=was).filter(
            Q(owner__isnull=True) & ~Exists(stands.filter(owner__isnull=True))
            | Q(owner__isnull=False) & ~Exists(stands.filter(owner=OuterRef("owner_id")))
        )
        counts[was, today]["prices"] += moved.update(symbol=today)


def read_links(edges: Any, counts: Counts) -> None:
    """Let links lead to their asset of today, each memory once."""
    for was, today in changed_in(edges, "dst_entity_key").items():
        asset = asset_in(today)
        if asset is not None:
            same = {name: OuterRef(name) for name in ("src_table", "src_id", "edge_type")}
            linked = edges.filter(dst_entity_key=was)
            moved = linked.exclude(Exists(edges.filter(dst_entity_key=asset, **same)))
            counts[was, today]["links"] += moved.update(dst_entity_key=asset)
            linked.delete()


def list_for_operators(apps: Any, alias: str, counts: Counts) -> None:
    """Open the alert that lists what changed, and let a worker read the links of all texts again."""
    now = timezone.now()
    changes = [
        {"was": was, "today": today, **found}
        for (was, today), found in sorted(counts.items())
        if any(found.values())
    ]
    if changes:
        apps.get_model("console", "Alert").objects.using(alias).create(
            cause="symbols", kind="symbols", facts={"changes": changes}, opened_at=now
        )
    if apps.get_model("memory_app", "Memory").objects.using(alias).exists():
        apps.get_model("kernel", "JobRun").objects.using(alias).create(
            job="edges.replay", arguments={}, state="queued", requested_by="upgrade", created_at=now, enqueued_at=now
        )


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("console", "0004_held_writes_alerts"),
        ("kernel", "0018_proposed_changes"),
        ("learning_app", "0013_asset_text"),
        ("memory_app", "0024_conflicts_leave_one"),
    ]

    operations: ClassVar = [
        migrations.RemoveConstraint("alert", "alert_kind_known"),
        migrations.AddConstraint(
            "alert", models.CheckConstraint(condition=Q(kind__in=ALERTS), name="alert_kind_known")
        ),
        migrations.RunPython(read_stored_symbols, migrations.RunPython.noop, elidable=True),
    ]
