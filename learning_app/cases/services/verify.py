"""Recomputing what cases made of methodologies: counters = tallies = events = cases = candles. Source: court.md.

Each step does anew what made the rows, in a transaction, and compares them; only to mend them is it kept. Operators'
words without a case and the ladder's outcomes stand as recorded; before the last import or rewording nothing counts.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Model, Q, QuerySet

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.cases.services.rejudge import store_controls
from learning_app.cases.services.resolve import JUDGED, judge_again, link_controls, walk_due
from learning_app.cases.services.settle import PLACED, SETTLED, count_tallies, settle_blocks
from learning_app.court.models import Block, Control
from learning_app.court.services.controls import WEIGHTS
from learning_app.court.services.evidence import JUDGED as EVIDENCE, count_blocks
from learning_app.methodologies.core.lifecycle import BEGINNINGS, INSTANCE_HAND, replay
from learning_app.methodologies.models import LifecycleEvent, Methodology, Tally
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.vocabulary import LifecycleKind, OutcomeState
from minara_site.kernel.db import slices, update_rows

ACTOR = "command:learning verify"
READ_AT_ONCE = 2_000
NAMES: dict[type[Model], str] = {TradingCase: "case", Control: "control", Block: "block"}
WINDOWED = ("window_ends_at", "control_id")
COUNTERS = ("times_used", "times_correct", "confidence")
TALLY = ("used", "right", "own_used", "own_right", "own_log_e")


@dataclass(frozen=True, slots=True)
class Difference:
    """What is stored of an object under a name, and what was computed; `of` is such as `case:12`."""

    of: str
    name: str
    stored: object
    computed: object


def verify(*, apply: bool, now: datetime) -> Iterator[Difference]:
    """Yield each difference, from the candles up; with `apply` each step is mended before the next is looked at."""
    closed = TradingCase.objects.exclude(outcome_state=OutcomeState.PENDING).filter(is_demo=False)
    known = Control.objects.filter(known_at__isnull=False, is_demo=False).order_by("symbol", "horizon_hours", "grid_at")
    blocks = Block.objects.order_by("methodology", "pk")
    for cases in walk_due(closed.defer("decision"), "pk"):
        judged = partial(judge_closed, cases, now=now)
        yield from compare(cases, ("window_ends_at", *JUDGED), judged, apply=apply)
    for controls in slices(known.iterator(READ_AT_ONCE)):
        yield from compare(controls, WEIGHTS, partial(store_controls, controls, now=now), apply=apply)
    for hint in list_credited_otherwise():
        yield Difference(f"case:{hint.case_id}", "credited_at", hint.credited_at, None if hint.credited_at else now)
    for some in slices(blocks.iterator(READ_AT_ONCE)):
        settled = partial(settle_blocks, [block.pk for block in some], actor=ACTOR, now=now)
        yield from compare(some, (*PLACED, *SETTLED), settled, apply=apply)
    events = LifecycleEvent.objects.filter(kind__in=(*BEGINNINGS, LifecycleKind.OUTCOME_RECORDED))
    of_method = groupby(events.order_by("methodology", "pk").iterator(READ_AT_ONCE), key=attrgetter("methodology_id"))
    rows = Methodology.objects.in_bulk()
    for number, found in of_method:
        if row := rows.pop(number, None):
            yield from verify_method(row, list(found), apply=apply, now=now)
    for row in rows.values():
        yield from verify_method(row, [], apply=apply, now=now)


def judge_closed(cases: Sequence[TradingCase], *, now: datetime) -> None:
    """Judge closed cases again, in the window that their moments give and beside its control. Needs a transaction."""
    before = {case.pk: [getattr(case, name) for name in WINDOWED] for case in cases}
    for case in cases:
        case.place_window()
        case.control_id = None
    link_controls(cases)
    moved = [case for case in cases if before[case.pk] != [getattr(case, name) for name in WINDOWED]]
    update_rows(TradingCase, WINDOWED, moved)
    judge_again(cases, actor=ACTOR, now=now)


def list_credited_otherwise() -> "QuerySet[CaseHint]":
    """Return the hints that move counters without being what their block counts, or the other way round."""
    counted = Q(block__counted_case=F("case_id"))
    rows = CaseHint.objects.filter(block__isnull=False)
    return rows.filter(Q(credited_at__isnull=True) & counted | Q(credited_at__isnull=False) & ~counted)


def compare(
    rows: Sequence[Any],
    names: Sequence[str],
    act: Callable[[], object],
    *,
    apply: bool,
    of: str = "",
) -> list[Difference]:
    """Return by what rows differ from before once something is done anew, which stays done only with `apply`."""
    model: type[Model] = type(rows[0])
    before = {row.pk: [getattr(row, name) for name in names] for row in rows}
    with transaction.atomic():
        act()
        after = {row.pk: [getattr(row, name) for name in names] for row in model._default_manager.filter(pk__in=before)}  # noqa: SLF001
        if not apply:
            transaction.set_rollback(True)
    return [
        Difference(of or f"{NAMES[model]}:{pk}", name, stored, computed)
        for pk, values in before.items()
        for name, stored, computed in zip(names, values, after[pk], strict=True)
        if is_other(stored, computed)
    ]


def is_other(stored: object, computed: object) -> bool:
    """Say whether two values differ, and not only in the last digits of a number."""
    if isinstance(stored, float) and isinstance(computed, float):
        return not math.isclose(stored, computed, abs_tol=1e-9)
    return stored != computed


def verify_method(
    row: Methodology,
    events: Sequence[LifecycleEvent],
    *,
    apply: bool,
    now: datetime,
) -> Iterator[Difference]:
    """Yield by what events, counters, tallies and evidence of a methodology differ from its blocks."""
    of = f"methodology:{row.uid}"
    start = max((place for place, event in enumerate(events) if event.kind in BEGINNINGS), default=0)
    outcomes = list(find_missing(row, events[:start], events[start:]))
    for each in outcomes:
        said = (each.is_correct, None) if each.reverses else (None, each.is_correct)
        yield Difference(f"{of} case:{each.case_id}", f"event {each.reverses or ''}".strip(), *said)
    stored, counted = read_tallies(row), dict[tuple[int, str], float]()

    def count() -> None:
        row.times_used, row.times_correct = replay(events[start:])
        row.confidence = row.trust.bound if row.times_used else settings.MINARA.initial_confidence
        update_rows(Methodology, COUNTERS, [row])
        if outcomes:
            apply_outcomes(outcomes, actor=ACTOR, now=now)
        count_tallies([row.pk])
        count_blocks([row.pk], actor=ACTOR, now=now)
        counted.update(read_tallies(row))

    yield from compare([row], (*COUNTERS, *EVIDENCE), count, apply=apply, of=of)
    for hand, name in sorted(stored.keys() | counted.keys()):
        before, after = stored.get((hand, name)), counted.get((hand, name))
        if before != after:
            yield Difference(f"{of} hand:{hand}", f"tally {name}", before, after)


def find_missing(
    row: Methodology,
    before: Iterable[LifecycleEvent],
    events: Iterable[LifecycleEvent],
) -> Iterator[NewOutcome]:
    """Yield the outcomes of cases that events lack, and reversals of those that no block and no word says.

    What a block counted `before` the counters began anew is expected no more.
    """
    standing: dict[int, LifecycleEvent] = {}
    for event in events:
        is_of_case = event.kind == LifecycleKind.OUTCOME_RECORDED and event.case_id is not None
        if is_of_case and not standing.pop(event.details.get("reverses", 0), None):
            standing[event.pk] = event
    blocks: Any = Block.objects.filter(methodology=row, is_own=False, counted_case__isnull=False)
    words: Any = CaseHint.objects.filter(methodology=row, word__isnull=False)
    expected = {case: (is_right, INSTANCE_HAND) for case, is_right in words.values_list("case_id", "word")}
    for case, is_right, hand in blocks.values_list("counted_case", "is_right", "hand"):
        expected[case] = (is_right, hand)
    for event in standing.values():
        is_correct = bool(event.details["correct"])
        if expected.get(event.case_id, (None, 0))[0] == is_correct:
            del expected[event.case_id]
        else:
            yield NewOutcome(row.pk, is_correct, event.case_id, reverses=event.pk, asks=False)
    for case in expected.keys() - {event.case_id for event in before}:
        is_right, hand = expected[case]
        yield NewOutcome(row.pk, is_right, case, hand, asks=False)


def read_tallies(row: Methodology) -> dict[tuple[int, str], float]:
    """Return what each hand has of a methodology, by hand and column."""
    rows = Tally.objects.filter(methodology=row)
    return {(each.hand, name): round(getattr(each, name), 9) for each in rows for name in TALLY}
