"""Reads of the page of one methodology: its outcomes, the blocks of the court, its calls, its cases."""

from collections.abc import Iterable

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.court.models import Block
from learning_app.court.services.evidence import KnownBlock, known_blocks
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.services.create import MAX_COMPARED
from learning_app.similarity.core import find_most_similar_tfidf
from learning_app.vocabulary import LifecycleKind
from minara_site.access.models import User
from minara_site.kernel.market.models import PriceBar, PricePoint
from minara_site.kernel.market.outcome import SIGN, Direction, change_pct
from minara_site.kernel.ownership import Owner

MAX_OUTCOMES, MAX_BLOCKS, MAX_CALLS, MAX_CASES, MAX_DUPLICATES = 500, 2_000, 2_000, 20, 5
CALL_FIELDS = ("asset", "regime", "horizon_hours", "decided_at", "outcome_state", "judged_by", "gap", "pnl_pct")
CURVE_KINDS = (
    LifecycleKind.OUTCOME_RECORDED,
    LifecycleKind.GRADUATED,
    LifecycleKind.DEMOTED,
)


def list_curve_events(row: Methodology) -> list[LifecycleEvent]:
    """Return the newest outcomes of a methodology and what they changed, the oldest first. One query."""
    events = LifecycleEvent.objects.filter(methodology=row, kind__in=CURVE_KINDS).order_by("-pk")
    return list(events[:MAX_OUTCOMES])[::-1]


def list_observations(row: Methodology) -> list[KnownBlock] | None:
    """Return the blocks as the court counted them; None when they are too many to read at once. One query."""
    if row.independent_cases > MAX_BLOCKS:
        return None
    return known_blocks(row.pk)


def count_known(row: Methodology) -> dict[str, int]:
    """Return how many of the blocks that the court counted were live, and how many wait for a control. One query."""
    return Block.objects.filter(methodology=row, is_own=False).aggregate(
        live=Count("pk", filter=Q(known_at__isnull=False, is_replayed=False)),
        waiting=Count("pk", filter=Q(Exists(CaseHint.objects.filter(block=OuterRef("pk"))), is_waiting=True)),
    )


def list_calls(row: Methodology) -> list[TradingCase]:
    """Return the case that counted, or the first, of each of the newest blocks; the oldest first. One query."""
    blocks = Block.objects.filter(methodology=row, is_own=False).order_by("-ends_at")
    chosen = blocks.annotate(call=Coalesce("counted_case", "case_id")).values("call")[:MAX_CALLS]
    return list(TradingCase.objects.filter(pk__in=chosen).only(*CALL_FIELDS).order_by("decided_at", "pk"))


def find_worst_move(row: Methodology, calls: Iterable[TradingCase]) -> float | None:
    """Return by how many percent the instance's closes and points went most against clear calls before their exit.

    The demo has prices of its owners in their place. None without a call. One query.
    """
    direction = Direction(row.direction)
    extreme = Min if direction is Direction.BULLISH else Max
    found = TradingCase.objects.filter(pk__in=[call.pk for call in calls]).annotate(
        **{
            model.__name__: Subquery(
                model.objects.filter(
                    symbol=OuterRef("asset"),
                    owner=OuterRef("owner") if row.is_demo else None,
                    doubted_at=None,
                    **{f"{at}__gte": OuterRef("entry_price_at"), f"{at}__lte": OuterRef("exit_price_at")},
                )
                .values("symbol")
                .annotate(extreme=extreme(price))
                .values("extreme")
            )
            for model, price, at in ((PriceBar, "close", "closes_at"), (PricePoint, "price", "at"))
        }
    )
    moves = (
        SIGN[direction] * float(change_pct(entry, price))
        for entry, *prices in found.values_list("entry_price", "PriceBar", "PricePoint")
        for price in prices
        if entry and price
    )
    return min(moves, default=None)


def list_case_hints(row: Methodology, *, owner: Owner) -> list[CaseHint]:
    """Return the newest cases that a methodology was shown with, as far as they are this reader's. One query."""
    hints = CaseHint.objects.filter(methodology=row)
    if isinstance(owner, User):
        hints = hints.filter(case__owner=owner)
    found = list(hints.select_related("case", "block").defer("case__decision").order_by("-case")[:MAX_CASES])
    for hint in found:
        hint.methodology = row
    return found


def find_readable_cases(ids: Iterable[int], *, owner: Owner) -> set[int]:
    """Return which of these cases are this reader's. One query."""
    return set(TradingCase.objects.for_owner(owner).filter(pk__in=list(ids)).values_list("pk", flat=True))


def find_nearest(row: Methodology) -> tuple[Methodology, float] | None:
    """Return the most similar text of the same direction and asset class, and how similar it is, in [0, 1]."""
    alike = Methodology.objects.filter(
        asset_class=row.asset_class,
        direction=row.direction,
        held_at__isnull=True,
    )
    others = {other.pk: other for other in alike.exclude(pk=row.pk).order_by("-pk")[:MAX_COMPARED]}
    match = find_most_similar_tfidf(
        row.methodology,
        {pk: other.methodology for pk, other in others.items()},
    )
    return (others[match.key], match.score) if match else None


def count_texts(row: Methodology) -> dict[str, int]:
    """Return how often other words were handed in for it, and how often its own were changed. One query."""
    events = row.events.filter(kind__in=[LifecycleKind.DEDUPLICATED, LifecycleKind.REWORDED])
    return dict(events.values_list("kind").annotate(Count("pk")))


def list_duplicates(row: Methodology) -> list[LifecycleEvent]:
    """Return the newest events of writers who said the same. One query."""
    return list(row.events.filter(kind=LifecycleKind.DEDUPLICATED).order_by("-pk")[:MAX_DUPLICATES])


def find_decision(row: Methodology) -> LifecycleEvent | None:
    """Return the quarantine by a person or the scan in which a methodology is, None without one. One query."""
    if not (row.moved_at and row.quarantined_by):
        return None
    return row.events.filter(at=row.moved_at, kind=LifecycleKind.QUARANTINED).order_by("-pk").first()
