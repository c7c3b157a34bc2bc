"""Every number can be recomputed: planted faults are named and mended, and old cases are formed and judged anew."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction

from learning_app.cases.models import UNFORMED, CaseHint, TradingCase
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.verify import verify
from learning_app.court.models import Block
from learning_app.methodologies.models import LifecycleEvent, Methodology, Tally
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from learning_app.migrations._counting_once import judge_anew
from minara_site.kernel.jobs.models import JobRun, RunState
from tests.kit.clock import NOON
from tests.learning_app.rows import build_case, make_case, make_methodology, post_prices

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def post_steps(symbol="BTC", hours=120):
    """Post prices that rise by two percent every fourth hour and fall in between, until noon."""
    price, prices = 100.0, []
    for number in range(hours):
        price *= 1.02 if number % 4 == 0 else 0.99
        prices.append((NOON - HOUR * (hours - number - 1), f"{price:.6f}"))
    post_prices(symbol, *prices)


@pytest.mark.database
def test_each_planted_fault_is_named_and_mended(ana, ben):
    post_steps()
    method = make_methodology()
    cases = [
        make_case(owner, hours=hours, horizon=2, hints=[method])
        for hours, owner in zip(range(110, 60, -4), [ana, ben] * 7, strict=False)
    ]
    run_cron(now=NOON, requested_by="test")
    assert list(verify(apply=False, now=NOON)) == []
    counted = CaseHint.objects.filter(credited_at__isnull=False).values_list("case_id", flat=True)
    wrong_price, wrong_event, uncredited, moved = counted[:4]
    CaseHint.objects.filter(case=uncredited).update(credited_at=None)
    TradingCase.objects.filter(pk=moved).update(window_ends_at=NOON, control=None)
    blocks = Block.objects.filter(is_own=False)
    blocks.filter(case_id=uncredited).update(starts_at=NOON - 999 * HOUR, is_replayed=True)
    TradingCase.objects.filter(pk=wrong_price).update(entry_price=1)
    LifecycleEvent.objects.create(
        methodology=method,
        kind="outcome_recorded",
        at=NOON,
        actor="planted",
        case_id=wrong_event,
        details={"correct": True},
    )
    Tally.objects.filter(hand=ana.pk).update(right=3)
    Methodology.objects.update(times_used=99, times_correct=98, independent_cases=99)
    before = Methodology.objects.values().get()
    named = {(each.of.split(":")[0], each.name.split()[0]) for each in verify(apply=False, now=NOON)}
    assert named >= {
        ("case", "entry_price"),
        ("case", "credited_at"),
        ("case", "window_ends_at"),
        ("case", "control_id"),
        ("block", "starts_at"),
        ("block", "is_replayed"),
        ("methodology", "event"),
        ("methodology", "times_correct"),
        ("methodology", "tally"),
        ("methodology", "independent_cases"),
    }
    assert Methodology.objects.values().get() == before, "without --apply nothing changes"
    out = StringIO()
    call_command("learning", "verify", "--apply", stdout=out)
    assert f"case:{wrong_price}: entry_price: 1" in out.getvalue()
    assert list(verify(apply=False, now=NOON)) == []
    out = StringIO()
    call_command("learning", "verify", stdout=out)
    assert out.getvalue().startswith("Everything adds up")
    method.refresh_from_db()
    assert method.times_used == len(counted) == Block.objects.filter(is_own=False, is_right__isnull=False).count()
    assert len(cases) == TradingCase.objects.count()


def make_old(owner, method, *, hours, correct=None, decided_hours=None):
    """Make a case with its hint as they were before one bet counted once, credited where `correct` says how."""
    case = build_case(owner, hours=decided_hours or hours, horizon=4, created_at=NOON - HOUR * hours)
    case.save(force_insert=True)
    hint = CaseHint.objects.create(
        case=case,
        methodology=method,
        position=0,
        why=UNFORMED,
        own_why=UNFORMED,
        credited_at=None if correct is None else NOON,
    )
    if correct is not None:
        case.outcome_state, case.judged_by, case.resolved_at = "confirmed_good", "instance", NOON
        case.save()
        apply_outcomes([NewOutcome(method.pk, correct, case.pk)], actor="job:learning.cron", now=NOON)
    return hint


@pytest.mark.database
def test_old_cases_are_formed_in_their_order_and_what_no_longer_counts_is_reversed(ana, ben, olga):
    post_steps()
    method = make_methodology()
    for number in range(12):
        make_old((ana, ben)[number % 2], method, hours=50 - number / 10, correct=True)
    replay = make_old(ana, method, hours=2, decided_hours=90, correct=True)
    TradingCase.objects.filter(pk=replay.case_id).update(replayed=True, is_instances=True)
    pending = make_old(ben, method, hours=20)
    method.refresh_from_db()
    assert (method.times_used, method.quarantine) == (13, 0)
    done = judge_anew(now=NOON)
    assert (done["formed"], done["demoted"]) == (14, 1)
    method.refresh_from_db()
    blocks = Block.objects.filter(is_own=False).order_by("starts_at")
    assert [block.hand for block in blocks] == [0, ana.pk, ben.pk]
    assert (method.times_used, method.quarantine) == (blocks.filter(is_right__isnull=False).count(), 1)
    assert method.times_used == 2, "the pending one has not counted"
    assert not CaseHint.objects.filter(why="", block=None).exists()
    assert not CaseHint.objects.filter(why=UNFORMED).exists()
    pending.refresh_from_db()
    assert (pending.why, pending.own_why) == ("", "")
    assert LifecycleEvent.objects.get(kind="demoted").details == {"judged_anew": 1}
    assert list(verify(apply=False, now=NOON)) == []
    JobRun.objects.create(job="learning.judge_anew", state=RunState.SUCCEEDED, created_at=NOON)
    Methodology.objects.update(quarantine=0)
    assert judge_anew(now=NOON) == {"formed": 0, "rejudged": 0, "controls": 0, "demoted": 0}
    with transaction.atomic():
        assert Methodology.objects.get().quarantine == 0
