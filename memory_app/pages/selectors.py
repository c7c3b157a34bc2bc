"""What is known about an asset: the parts of a page, the compiled page from its cache, the assets an owner knows.

To add a part, as later rooms do: one function that returns its section, listed in `PARTS`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Subquery, Sum
from django.utils.translation import gettext as _

from learning_app.ledger.models import Trade
from learning_app.ledger.selectors import list_newest
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.selectors import list_injected
from learning_app.preferences.limits import Limit, load_limits
from learning_app.preferences.models import Preference
from memory_app.edges.core import EdgeType, NodeKind, SourceTable
from memory_app.edges.models import MemoryEdge
from memory_app.memories.conflicts import find_marks, load_left_out
from memory_app.memories.core import HARD_CONSTRAINT, FactState
from memory_app.memories.models import Memory, MemoryQuerySet, limit_rows
from memory_app.memories.selectors import newest_accepted
from memory_app.pages.cache import PAGES, PageKey, Versions
from memory_app.pages.core import (
    Asset,
    CompiledPage,
    Entry,
    Heading,
    RowKind,
    Section,
    find_asset,
    join_parts,
    render_page,
)
from memory_app.pages.models import CompiledPageVersion
from memory_app.roles.models import RoleMemory
from memory_app.roles.selectors import newest_reflected
from minara_site.access.models import User
from minara_site.kernel.core.assets import CLASSES, AssetGroup
from minara_site.kernel.core.vocabulary import USER_WRITTEN, Category, Source
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.prepared import OWNER_ID, Prepared
from minara_site.web.market_labels import pnl_label
from minara_site.web.values import plain_number

MAX_STATEMENTS = 20
MAX_EVENTS = 30
MAX_DECISIONS = 20
MAX_METHODOLOGIES = 10
MAX_TRADES, MAX_REASON_CHARS = 10, 200
DECISION, METHODOLOGY, TRADE = "decision", "methodology", "trade"

TIMELINE = (Category.TRADE_OUTCOME, Category.OBSERVATION, Category.ALERT)
USERS_FIRST = (  # what agents write never pushes the user's own words out (trust P-06)
    Q(source=Source.USER_MANUAL),
    Q(source=Source.USER_EXPLICIT),
    ~Q(source__in=USER_WRITTEN),
)
ABOUT = (EdgeType.HOLDS, EdgeType.EXITED, EdgeType.TRADED, EdgeType.WATCHED, EdgeType.MENTIONS)
"""The edges by which a memory is about an asset; that two assets stand side by side says nothing of either."""


@dataclass(frozen=True, slots=True)
class PageScope:
    """What a page is to tell: whose knowledge, about which asset, with or without hard constraints."""

    owner: User
    asset: Asset
    hard_constraints: bool


@dataclass(frozen=True, slots=True)
class KnownAsset:
    """An asset that memories mention, and how many do."""

    asset: Asset
    memories: int


def open_asset(written: str) -> Asset:
    """Return the asset that somebody wrote in any of its spellings. Raises NotFound for what has no class."""
    asset = find_asset(written)
    if asset is None:
        raise NotFound(_("There is no such page: this names no asset of a known class."), code="unclassified")
    return asset


def load_page(asked: PageScope, *, reader: User, now: datetime) -> CompiledPage:
    """Return the page of an asset, from the cache when nothing changed since; then it takes one query.

    For a reader who is not its owner the secrets in it are masked.
    """
    key = key_of(asked, reader)  # before the rows are read: what is written meanwhile makes this page out of date
    page = PAGES.find(key, now=now)
    if page is None:
        sections = join_parts([part(asked) for part in PARTS])
        if key.is_masked:
            sections = tuple(map(masked, sections))
        page = CompiledPage(
            asked.asset,
            sections,
            render_page(asked.asset, sections),
            now,
        )
        PAGES.keep(key, page)
    return page


def key_of(asked: PageScope, reader: User) -> PageKey:
    """Return what a page is kept under. One query."""
    owner_id = asked.owner.pk
    return PageKey(
        owner_id=owner_id,
        symbol=asked.asset.symbol,
        hard_constraints=asked.hard_constraints,
        is_masked=owner_id != reader.pk,
        versions=get_versions(owner_id),
        rules_version=guard.RULES.version,
    )


def version_rows() -> "list[QuerySet[User, Any]]":
    """Return the query of what `get_versions` reads."""
    version = CompiledPageVersion.objects.filter(pk=OWNER_ID).values("version")
    event = LifecycleEvent.objects.order_by("-id").values("id")[:1]
    active = Preference.objects.filter(owner_id=OWNER_ID).active().hard().values("owner")
    sums = (Subquery(active.annotate(sum=Sum(name)).values("sum")) for name in ("pk", "version"))
    return [User.objects.filter(pk=OWNER_ID).values_list(Subquery(version), Subquery(event), *sums)]


VERSIONS = Prepared(lambda *numbers: Versions(*(number or 0 for number in numbers)), version_rows)


def get_versions(owner_id: int) -> Versions:
    """Return by what this owner's pages are out of date, each number 0 before the first time. One query.

    Preferences are read where they stand, so that a page is new in the moment in which one comes into force or ends.
    """
    found = VERSIONS.ask(owner_id=owner_id)
    return found[0] if found else Versions(0, 0, 0, 0)


def masked(section: Section) -> Section:
    """Return a section as somebody else than its owner may see it."""
    return replace(
        section,
        entries=tuple(replace(entry, text=mask(entry.text)) for entry in section.entries),
    )


def rows_about(asked: PageScope) -> MemoryQuerySet:
    """Return the memories that the page may be made of beside limits, without what open conflicts leave out."""
    edges = edges_to_assets(asked.owner).filter(dst_entity_key=asked.asset.symbol)
    labelled = limit_rows(f"user:{asked.owner.pk}") if asked.hard_constraints else Q(fact_type=HARD_CONSTRAINT)
    left_out = load_left_out(asked.owner.pk)
    return readable(asked.owner).filter(pk__in=edges.values("src_id")).exclude(labelled | Q(pk__in=left_out))


def readable(owner: User) -> MemoryQuerySet:
    """Return what this owner's agents may read: live memories, of facts the settled ones."""
    rows: MemoryQuerySet = Memory.objects.for_owner(owner).live()
    return rows.filter(Q(fact_state__isnull=True) | Q(fact_state=FactState.SETTLED))


def edges_to_assets(owner: User) -> "QuerySet[MemoryEdge]":
    """Return the edges from this owner's memories to what they are about."""
    return MemoryEdge.objects.for_owner(owner).filter(
        src_table=SourceTable.MEMORIES,
        dst_entity_kind=NodeKind.TICKER,
        edge_type__in=ABOUT,
    )


def hard_constraint_part(asked: PageScope) -> Section:
    """Return the limits in force that name the asset, the oldest first; none when left out."""
    limits = load_limits(asked.owner.pk) if asked.hard_constraints else []
    named = [limit for limit in limits if asked.asset.symbol in limit.tickers]
    return Section(Heading.COMPILED_TRUTH, tuple(map(entry_of_limit, named)))


def entry_of_limit(limit: Limit) -> Entry:
    """Return a limit as an entry."""
    return Entry(
        kind=limit.kind,
        provenance=limit.badge,
        row_id=limit.row_id,
        text=limit.statement,
        note=HARD_CONSTRAINT,
        row=RowKind(limit.kind),
    )


def statement_part(asked: PageScope) -> Section:
    """Return settled facts, preferences and lessons: what the user typed, then what they said, then the rest."""
    left = rows_about(asked).exclude(category__in=TIMELINE)
    found: list[Memory] = []
    for written in USERS_FIRST:
        if places := MAX_STATEMENTS - len(found):
            found += newest_accepted(left.filter(written), places)
    return Section(Heading.COMPILED_TRUTH, tuple(entries_of(found)))


def methodology_part(asked: PageScope) -> Section:
    """Return the methods that prompts may carry for the asset's class, then for the others of its group."""
    found = list_injected(
        [asked.asset.asset_class],
        owner=asked.owner,
        limit=MAX_METHODOLOGIES,
    )
    return Section(Heading.COMPILED_TRUTH, tuple(map(entry_of_methodology, found)))


def entry_of_methodology(row: Methodology) -> Entry:
    """Return a methodology as an entry, with how often it was right."""
    return Entry(
        kind=METHODOLOGY,
        provenance=f"right {row.times_correct} of {row.times_used}, bound {row.confidence:.3f}",
        row_id=row.uid,
        text=f"{row.name}: {row.methodology}",
        row=RowKind.METHODOLOGY,
    )


def event_part(asked: PageScope) -> Section:
    """Return what happened, newest first."""
    rows = rows_about(asked).filter(category__in=TIMELINE)
    found = newest_accepted(rows, MAX_EVENTS)
    return Section(
        Heading.TIMELINE,
        tuple(replace(entry, at=row.updated_at) for entry, row in zip(entries_of(found), found, strict=True)),
    )


def decision_part(asked: PageScope) -> Section:
    """Return the reflected decisions of declared roles about the asset, newest reflection first.

    What is pending or held never is among them; a held lesson takes its decision off the page.
    """
    found = newest_reflected(asked.owner.pk, asked.asset.symbol, MAX_DECISIONS)
    return Section(Heading.TIMELINE, tuple(map(entry_of_decision, found)))


def entry_of_decision(decision: RoleMemory) -> Entry:
    """Return a reflected decision as an entry: what came of it, and what it taught, or else what was said of it."""
    change = "" if decision.pnl_pct is None else pnl_label(decision.pnl_pct)
    return Entry(
        kind=DECISION,
        provenance=decision.role_id,
        row_id=decision.pk,
        text=decision.lesson or decision.narrative or decision.decision,
        note=", ".join(filter(None, (decision.outcome, decision.classification, change))),
        at=decision.reflected_at,
        row=RowKind.DECISION,
    )


def trade_part(asked: PageScope) -> Section:
    """Return the trades that agents recorded of the asset, the last opened first."""
    found = list_newest(owner=asked.owner, asset=asked.asset.symbol, limit=MAX_TRADES)
    return Section(Heading.TIMELINE, tuple(map(entry_of_trade, found)))


def entry_of_trade(trade: Trade) -> Entry:
    """Return a trade as an entry: what was traded and came of it, and the reasons that were given, cut."""
    ends = "" if trade.exit_price is None else f", closed at {plain_number(trade.exit_price)}"
    pnl = "" if trade.realized_pnl_usd is None else f", P&L before fees {trade.realized_pnl_usd:+,.2f} USD"
    head = f"{trade.symbol}: {trade.entry_size_usd:,.0f} USD at {plain_number(trade.entry_price)}{ends}{pnl}"
    reasons = [reason[:MAX_REASON_CHARS] for reason in (trade.entry_reason, trade.exit_reason) if reason]
    return Entry(
        kind=TRADE,
        provenance=trade.status,
        row_id=trade.uid,
        text=". ".join([head, *reasons]),
        note=trade.side,
        at=trade.exit_tick_at or trade.entry_tick_at,
        row=RowKind.TRADE,
    )


PARTS: tuple[Callable[[PageScope], Section], ...] = (
    hard_constraint_part,
    statement_part,
    methodology_part,
    event_part,
    decision_part,
    trade_part,
)


def entries_of(rows: Sequence[Memory]) -> Iterator[Entry]:
    """Yield memories as entries. One query."""
    marks = find_marks([row.pk for row in rows])
    for row in rows:
        others = marks[row.pk].others if row.pk in marks else ()
        yield Entry(row.category, row.badge, row.pk, row.content, conflicts=tuple(sorted(others)))


def list_assets(*, owner: User) -> Mapping[AssetGroup, list[KnownAsset]]:
    """Return the assets that memories are about, by group, the most mentioned first. One query.

    Names without a class are as many as writers invent: they are not asked for, so that they crowd no asset out.
    """
    counted = (
        edges_to_assets(owner)
        .alias(source=F("src_id") + 0)  # + 0: along the names alone, not each name for each memory
        .filter(dst_entity_key__in=CLASSES, source__in=readable(owner).values("pk"))
        .values_list("dst_entity_key")
        .annotate(memories=Count("src_id", distinct=True))
        .order_by("-memories", "dst_entity_key")
    )
    groups: defaultdict[AssetGroup, list[KnownAsset]] = defaultdict(list)
    for symbol, memories in counted:
        asset = Asset(symbol, CLASSES[symbol])
        groups[asset.asset_class.group].append(KnownAsset(asset, memories))
    return {group: groups[group] for group in AssetGroup if groups[group]}
