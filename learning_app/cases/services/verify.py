"""Recomputing what cases made of methodologies: counters = tallies = events = cases = candles. Source: court.md.

Each step compares what is stored with what the step below says, and, to mend it, puts that in its place. Operators'
words without a case and the ladder's outcomes stand as recorded; before the last import or rewording nothing counts.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from django.conf import settings
from django.db import transaction

from learning_app.cases.models import CaseHint, TradingCase
from learning_app.cases.services.rejudge import store_controls
from learning_app.cases.services.resolve import JUDGED, find_changed, store_again, walk_due
from learning_app.cases.services.settle import (
    OWN,
    SETTLED,
    Settlement,
    count_tallies,
    find_tallies,
    load_blocks,
    settle_block,
)
from learning_app.court.models import Block, Control
from learning_app.court.services.controls import WEIGHTS, judge_controls
from learning_app.court.services.evidence import JUDGED as EVIDENCE, count_blocks, known_blocks, run_on
from learning_app.methodologies.core.lifecycle import BEGINNINGS, INSTANCE_HAND, replay
from learning_app.methodologies.models import LifecycleEvent, Methodology, Tally
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.vocabulary import LifecycleKind, OutcomeState
from minara_site.kernel.db import slices, update_rows

ACTOR = "command:learning verify"
READ_AT_ONCE = 2_000
SHARES = ("used", "right", *OWN)
COUNTED_KINDS = (*BEGINNINGS, LifecycleKind.OUTCOME_RECORDED)


@dataclass(frozen=True, slots=True)
class Difference:
    """What is stored of an object under a name, and what was computed; `of` is such as `case:12`."""

    of: str
    name: str
    stored: object
    computed: object


def verify(*, apply: bool, now: datetime) -> Iterator[Difference]:
    """Yield each difference, from the candles up; with `apply` each step is mended before the next is looked at."""
    yield from verify_cases(apply=apply, now=now)
    yield from verify_controls(apply=apply, now=now)
    yield from verify_blocks(apply=apply, now=now)
    yield from verify_counts(apply=apply, now=now)


def compare(
    of: str, names: Sequence[str], stored: Sequence[object], computed: Sequence[object]
) -> Iterator[Difference]:
    """Yield where two lists of values differ; numbers that differ in their last digits do not."""
    for name, one, other in zip(names, stored, computed, strict=True):
        is_close = isinstance(one, float) and isinstance(other, float) and math.isclose(one, other, abs_tol=1e-9)
        if one != other and not is_close:
            yield Difference(of, name, one, other)


def verify_cases(*, apply: bool, now: datetime) -> Iterator[Difference]:
    """Compare closed cases with their candles."""
    closed = TradingCase.objects.exclude(outcome_state=OutcomeState.PENDING).filter(is_demo=False)
    names = [name for name in JUDGED if name != "control_id"]
    for batch in walk_due(closed.defer("decision"), "window_ends_at"):
        changed = find_changed(batch, now=now)
        for case, stored in changed:
            yield from compare(f"case:{case.pk}", names, stored, [getattr(case, name) for name in names])
        if apply:
            store_again([case for case, _stored in changed], actor=ACTOR, now=now)


def verify_controls(*, apply: bool, now: datetime) -> Iterator[Difference]:
    """Compare controls that were judged with their candles."""
    known = Control.objects.filter(known_at__isnull=False, is_demo=False).order_by("symbol", "horizon_hours", "grid_at")
    for controls in slices(known.iterator(chunk_size=READ_AT_ONCE)):
        stored = {control.pk: [getattr(control, name) for name in WEIGHTS] for control in controls}
        judge_controls(controls, now=now)
        for control in controls:
            computed = [getattr(control, name) for name in WEIGHTS]
            yield from compare(f"control:{control.pk}", WEIGHTS, stored[control.pk], computed)
        if apply:
            store_controls(list(Control.objects.filter(pk__in=stored)), now=now)


def verify_blocks(*, apply: bool, now: datetime) -> Iterator[Difference]:
    """Compare blocks with their cases and controls; one whose cases were erased stands as recorded."""
    keys = Block.objects.order_by("methodology", "pk").values_list("pk", flat=True)
    for some in slices(keys.iterator(chunk_size=READ_AT_ONCE)):
        found = Settlement()
        for block, hints in load_blocks(some):
            stored = [getattr(block, name) for name in SETTLED]
            if hints:
                settle_block(block, hints, found, now=now)
            yield from compare(
                f"block:{block.pk}", SETTLED[:-1], stored[:-1], [getattr(block, name) for name in SETTLED[:-1]]
            )
        if apply:
            update_rows(Block, SETTLED, found.blocks)
            update_rows(CaseHint, ("credited_at",), found.hints)


def verify_counts(*, apply: bool, now: datetime) -> Iterator[Difference]:
    """Compare events with blocks, counters with events, tallies and evidence with blocks, of each methodology."""
    events = LifecycleEvent.objects.filter(kind__in=COUNTED_KINDS).order_by("methodology", "pk")
    of_method = groupby(events.iterator(chunk_size=READ_AT_ONCE), key=attrgetter("methodology_id"))
    rows = Methodology.objects.in_bulk()
    for number, found in of_method:
        if number in rows:
            yield from verify_method(rows.pop(number), list(found), apply=apply, now=now)
    for row in rows.values():
        yield from verify_method(row, [], apply=apply, now=now)


def verify_method(
    row: Methodology,
    events: Sequence[LifecycleEvent],
    *,
    apply: bool,
    now: datetime,
) -> Iterator[Difference]:
    """Compare everything that is counted of one methodology."""
    of = f"methodology:{row.uid}"
    start = max((place for place, event in enumerate(events) if event.kind in BEGINNINGS), default=0)
    wrong, missing = find_wrong(row, events[:start], events[start:])
    for event in wrong:
        yield Difference(f"{of} case:{event.case_id}", f"event {event.pk}", event.details["correct"], None)
    for outcome in missing:
        yield Difference(f"{of} case:{outcome.case_id}", "event", None, outcome.is_correct)
    counters, counted = (row.times_used, row.times_correct), replay(events[start:])
    yield from compare(of, ("times_used", "times_correct"), counters, counted)
    if apply and (wrong or missing or counters != counted):
        mend_counters(row, counted, wrong, missing, now=now)
    stored = Tally.objects.filter(methodology=row)
    tallies = {tally.hand: [getattr(tally, name) for name in SHARES] for tally in stored}
    computed = {hand: values for (_number, hand), values in find_tallies([row]).items()}
    none = [0] * len(SHARES)
    faults = [
        fault
        for hand in sorted(tallies.keys() | computed.keys())
        for fault in compare(f"{of} hand {hand}", SHARES, tallies.get(hand, none), computed.get(hand, none))
    ]
    yield from faults
    evidence = [getattr(row, name) for name in EVIDENCE]
    run_on(row, None, known_blocks(row.pk))
    faulty = list(compare(of, EVIDENCE, evidence, [getattr(row, name) for name in EVIDENCE]))
    yield from faulty
    if apply and (faults or faulty):
        with transaction.atomic():
            count_tallies([row])
            count_blocks([], [row.pk], actor=ACTOR, now=now)


def find_wrong(
    row: Methodology,
    before: Iterable[LifecycleEvent],
    events: Iterable[LifecycleEvent],
) -> tuple[list[LifecycleEvent], list[NewOutcome]]:
    """Return the outcomes of cases that no block and no word says, and those that no event says.

    What a block counted `before` the counters began anew is expected no more.
    """
    standing: dict[int, LifecycleEvent] = {}
    for event in events:
        if event.case_id is not None and event.kind == LifecycleKind.OUTCOME_RECORDED:
            standing[event.pk] = event
            if standing.pop(event.details.get("reverses", 0), None):
                del standing[event.pk]
    counted = Block.objects.filter(methodology=row, is_own=False, counted_case__isnull=False)
    words = CaseHint.objects.filter(methodology=row, word__isnull=False)
    said = [
        *((case, word, INSTANCE_HAND) for case, word in words.values_list("case_id", "word")),
        *counted.values_list("counted_case", "is_right", "hand"),
    ]
    expected = {case: NewOutcome(row.pk, bool(is_right), case, hand, is_last=False) for case, is_right, hand in said}
    wrong = []
    for event in standing.values():
        outcome = expected.pop(event.case_id or 0, None)
        if outcome is None or outcome.is_correct != event.details["correct"]:
            wrong.append(event)
            if outcome is not None:
                expected[event.case_id or 0] = outcome
    earlier = {event.case_id for event in before}
    return wrong, [outcome for case, outcome in expected.items() if case not in earlier]


def mend_counters(
    row: Methodology,
    counted: tuple[int, int],
    wrong: Sequence[LifecycleEvent],
    missing: Sequence[NewOutcome],
    *,
    now: datetime,
) -> None:
    """Set the counters to what events say, then reverse the wrong ones and record what is missing."""
    outcomes = [
        NewOutcome(row.pk, bool(event.details["correct"]), event.case_id, reverses=event.pk, is_last=False)
        for event in wrong
    ]
    with transaction.atomic():
        row.times_used, row.times_correct = counted
        row.confidence = row.trust.bound if row.times_used else settings.MINARA.initial_confidence
        update_rows(Methodology, ("times_used", "times_correct", "confidence"), [row])
        if outcomes or missing:
            apply_outcomes([*outcomes, *missing], actor=ACTOR, now=now)
    row.refresh_from_db()
