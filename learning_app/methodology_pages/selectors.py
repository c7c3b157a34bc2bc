"""Reads of the page of one methodology: its outcomes, the blocks of the court, where it was right, its cases."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, OuterRef, Subquery

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.court.models import Block
from learning_app.court.services.evidence import known_blocks
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.services.create import MAX_COMPARED
from learning_app.similarity.core import find_most_similar_tfidf
from learning_app.vocabulary import LifecycleKind
from minara_site.access.models import User
from minara_site.kernel.core.assets import group_of
from minara_site.kernel.ownership import Owner

MAX_OUTCOMES, MAX_BLOCKS, MAX_COUNTED, MAX_CASES, MAX_DUPLICATES = 500, 2_000, 10_000, 20, 5
MIN_SHARE = 5
"""Below so many outcomes a share says nothing."""
CURVE_KINDS = (
    LifecycleKind.OUTCOME_RECORDED,
    LifecycleKind.GRADUATED,
    LifecycleKind.DEMOTED,
)


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the counted outcomes were right where `name` holds."""

    name: str
    right: int
    counted: int

    @property
    def is_enough(self) -> bool:
        return self.counted >= MIN_SHARE

    @property
    def percent(self) -> float:
        return 100 * self.right / self.counted


@dataclass(frozen=True, slots=True)
class CountedOutcomes:
    """The counted outcomes of a methodology. `is_all` is False when only the newest 10 000 were read."""

    whole: Share
    regimes: list[Share]
    groups: list[Share]
    is_all: bool


def list_curve_events(row: Methodology) -> list[LifecycleEvent]:
    """Return the newest outcomes of a methodology and what they changed, the oldest first. One query."""
    events = LifecycleEvent.objects.filter(methodology=row, kind__in=CURVE_KINDS).order_by("-pk")
    return list(events[:MAX_OUTCOMES])[::-1]


def list_observations(row: Methodology) -> list[Block] | None:
    """Return the blocks as the court counted them; None when they are too many to read at once. One query."""
    if row.independent_cases > MAX_BLOCKS:
        return None
    return known_blocks(row.pk)


def count_outcomes(row: Methodology) -> CountedOutcomes:
    """Count the outcomes that moved the counters; those of a case by regime and by group of assets too. One query."""
    outcomes = LifecycleEvent.objects.filter(methodology=row, kind=LifecycleKind.OUTCOME_RECORDED)
    case = TradingCase.objects.filter(pk=OuterRef("case_id"))
    cells = (
        LifecycleEvent.objects.filter(pk__in=outcomes.order_by("-pk").values("pk")[:MAX_COUNTED])
        .annotate(
            asset=Subquery(case.values("asset")),
            regime=Subquery(case.values("regime")),
        )
        .values_list("asset", "regime", "details__correct")
        .annotate(
            number=Count("pk"),
        )
    )
    regimes: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    groups: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    whole = [0, 0]
    for asset, regime, is_correct, number in cells:
        for tally in (
            whole,
            *([regimes[regime], groups[group_of(asset) or ""]] if asset else []),
        ):
            tally[0] += number if is_correct else 0
            tally[1] += number
    return CountedOutcomes(
        Share("", *whole),
        shares_of(regimes),
        shares_of(groups),
        is_all=whole[1] < MAX_COUNTED,
    )


def shares_of(tallies: dict[str, list[int]]) -> list[Share]:
    """Return shares, the one with the most outcomes first."""
    found = [Share(name, right, counted) for name, (right, counted) in tallies.items()]
    return sorted(found, key=lambda share: (-share.counted, share.name))


def list_case_hints(row: Methodology, *, owner: Owner) -> list[CaseHint]:
    """Return the newest cases that a methodology was shown with, as far as they are this reader's. One query."""
    hints = CaseHint.objects.filter(methodology=row)
    if isinstance(owner, User):
        hints = hints.filter(case__owner=owner)
    found = list(hints.select_related("case").defer("case__decision").order_by("-case")[:MAX_CASES])
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


def list_duplicates(row: Methodology) -> list[LifecycleEvent]:
    """Return the newest events of writers who said the same. One query."""
    return list(row.events.filter(kind=LifecycleKind.DEDUPLICATED).order_by("-pk")[:MAX_DUPLICATES])


def find_decision(row: Methodology) -> LifecycleEvent | None:
    """Return the quarantine by a person or the scan in which a methodology is, None without one. One query."""
    if not (row.moved_at and row.quarantined_by):
        return None
    return row.events.filter(at=row.moved_at, kind=LifecycleKind.QUARANTINED).order_by("-pk").first()
