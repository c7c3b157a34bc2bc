"""Symbols that were stored under another reading are read again, by the table of venues; operators get the list once."""

from collections import defaultdict
from typing import Any, ClassVar

from django.db import migrations, models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from memory_app.index.core.document import Kind
from memory_app.index.documents import reindex_rows
from minara_site.console.models import AlertKind
from minara_site.kernel.core.assets import TICKERS, AssetGroup, group_of
from minara_site.kernel.core.symbols import BESIDE, QUOTES, asset_in, normalise_symbol
from minara_site.kernel.core.venues import AFTER, BEFORE

SLICE = 500
NAMED_AS_VENUES = {"NDX": "NASDAQ", "COIN": "COINBASE", "HYPE": "HYPERLIQUID", "DYDX": "DYDX"}
"""Assets whose name is a venue's: `NASDAQ:AAPL` was stored as `NDX/AAPL`."""
SHORTEST_DATE = 5
KINDS = ("cases", "decisions", "runs", "prices", "links")


def read_again(stored: str) -> str:
    """Return what a stored symbol is today; what names no price stays as it is."""
    first, slash, second = stored.partition("/")
    sent = stored
    if slash and second not in QUOTES:
        venue = NAMED_AS_VENUES.get(first) or (first if first in BEFORE and first not in TICKERS else "")
        is_dated = second[0].isdigit() and len(second) >= SHORTEST_DATE
        is_coin = group_of(second) in {None, AssetGroup.CRYPTO}
        if venue:
            sent = f"{venue}:{second}"
        elif second in AFTER or (second in TICKERS and not is_coin):
            sent = f"{first}:{second}"
        elif is_dated:
            sent = f"{first}-{second}"
    elif slash and first in BESIDE and first not in TICKERS:
        sent = f"{first}:{second}"
    return normalise_symbol(sent) or stored


def changed_in(rows: Any, column: str) -> dict[str, str]:
    """Return the stored symbols of a column that are read otherwise today, with what they are."""
    stored = rows.order_by().values_list(column, flat=True).distinct()
    return {symbol: today for symbol in stored if symbol and (today := read_again(symbol)) != symbol}


def read_stored_symbols(apps: Any, schema_editor: Any) -> None:
    """Read again what is open, every price and every link; what both readings have keeps the one that stands."""
    alias = schema_editor.connection.alias

    def rows_of(app: str, model: str) -> Any:
        return apps.get_model(app, model).objects.using(alias)

    counts: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    cases = rows_of("learning_app", "TradingCase").filter(outcome_state="pending")
    for was, today in changed_in(cases, "asset").items():
        counts[was, today]["cases"] += cases.filter(asset=was).update(asset=today, asset_text=was)
    runs = rows_of("learning_app", "InstitutionRun")
    for was, today in changed_in(runs, "ticker").items():
        counts[was, today]["runs"] += runs.filter(ticker=was).update(ticker=today)
    entries = rows_of("memory_app", "RoleMemory").filter(status="pending")
    for was, today in changed_in(entries, "asset").items():
        ids = list(entries.filter(asset=was).values_list("pk", flat=True))
        for start in range(0, len(ids), SLICE):
            chosen = ids[start : start + SLICE]
            entries.filter(pk__in=chosen).update(asset=today, embedding_state="pending")
            reindex_rows(Kind.ROLE_MEMORY, chosen, using=alias)
        counts[was, today]["decisions"] += len(ids)
    for model, key in (("PriceBar", ("closes_at", "interval_seconds")), ("PricePoint", ("at",))):
        prices = rows_of("kernel", model)
        for was, today in changed_in(prices, "symbol").items():
            same = {name: OuterRef(name) for name in key}
            stands = prices.filter(symbol=today, **same)
            moved = prices.filter(symbol=was).filter(
                Q(owner__isnull=True) & ~Exists(stands.filter(owner__isnull=True))
                | Q(owner__isnull=False) & ~Exists(stands.filter(owner=OuterRef("owner_id")))
            )
            counts[was, today]["prices"] += moved.update(symbol=today)
    edges = rows_of("memory_app", "MemoryEdge").filter(dst_entity_kind="ticker")
    for was, today in changed_in(edges, "dst_entity_key").items():
        asset = asset_in(today)
        if asset is not None:
            same = {name: OuterRef(name) for name in ("src_table", "src_id", "edge_type")}
            linked = edges.filter(dst_entity_key=was)
            counts[was, today]["links"] += linked.exclude(
                Exists(edges.filter(dst_entity_key=asset, **same))
            ).update(dst_entity_key=asset)
            linked.delete()
    list_for_operators(apps, alias, counts)


def list_for_operators(apps: Any, alias: str, counts: dict[tuple[str, str], dict[str, int]]) -> None:
    """Open the alert that lists what changed, and let a worker read the links of all texts again."""
    now = timezone.now()
    changes = [
        {"was": was, "today": today, **dict.fromkeys(KINDS, 0), **found}
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
            "alert", models.CheckConstraint(condition=Q(kind__in=list(AlertKind)), name="alert_kind_known")
        ),
        migrations.RunPython(read_stored_symbols, migrations.RunPython.noop, elidable=True),
    ]
