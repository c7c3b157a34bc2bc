"""Blocks become known, move evidence and marks, and are recomputed when what they say changes; through the services."""

from datetime import timedelta

import pytest

from learning_app.cases.models import TradingCase
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.verify import verify
from learning_app.court.core import CourtState, add_block
from learning_app.court.models import Block, Control
from learning_app.court.services.evidence import count_blocks
from learning_app.methodologies.models import LifecycleEvent, Tally
from learning_app.methodologies.services.outcomes import NewOutcome, apply_outcomes
from minara_site.config import CourtMode
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.learning_app.rows import make_case, make_methodology, post_prices

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def run(now=NOON):
    return run_cron(now=now, requested_by="test")


def post_walk(hours):
    """Post prices of BTC that rise and fall by one percent in turns of three hours, until noon."""
    price, prices = 100.0, []
    for number in range(hours):
        price *= 1.01 if number // 3 % 2 else 0.99
        prices.append((NOON - HOUR * (hours - number - 1), f"{price:.6f}"))
    post_prices("BTC", *prices)


def add_known(row, *says, hand=0, first=NOON - 400 * DAY):
    """Store known blocks of (score, chance), a day apart, and let the court count them."""
    begun = Block.objects.filter(methodology=row).count()
    blocks = [
        Block(
            methodology=row,
            is_own=False,
            hand=hand,
            case_id=10_000 + number,
            starts_at=first + DAY * number,
            ends_at=first + DAY * (number + 1),
            decided_at=first + DAY * number,
            recorded_at=first + DAY * number,
            is_replayed=False,
            is_right=score > 0.5,
            score=score,
            chance=chance,
            known_at=first + DAY * (number + 2),
        )
        for number, (score, chance) in enumerate(says, begun)
    ]
    Block.objects.bulk_create(blocks)
    count_blocks([row.pk], actor="test", now=NOON)
    row.refresh_from_db()


@pytest.mark.database
def test_a_control_is_shared_asked_for_once_and_known_when_its_last_window_is(ana):
    post_walk(200)
    methods = [make_methodology(), make_methodology(direction="bearish")]
    cases = [
        make_case(ana, hours=99, horizon=4, hints=[method], direction=method.direction)
        for method in methods
        for _again in range(3)
    ]
    run(NOON - 94 * HOUR)
    [control] = Control.objects.all()
    assert (control.known_at, control.grid_at) == (None, NOON - 95 * HOUR)
    assert [block.is_waiting for block in Block.objects.filter(is_own=False)] == [True, True]
    last = control.grid_at + 31 * HOUR + 4 * HOUR
    assert run(last + timedelta(minutes=9))["controls"] == 0
    assert run(last + timedelta(minutes=10))["controls"] == 1
    control.refresh_from_db()
    assert (control.known_at, control.ups + control.downs + control.insides) == (last, 32)
    chances = [TradingCase.objects.select_related("control").get(pk=case.pk).chance for case in (cases[0], cases[-1])]
    assert sum(chances) == pytest.approx(1.0), "up and down share the clear windows"
    for method, chance in zip(methods, chances, strict=True):
        method.refresh_from_db()
        block = Block.objects.get(methodology=method, is_own=False)
        state = add_block(CourtState(), score=block.score, chance=chance)
        assert (method.independent_cases, method.log_evidence) == (1, pytest.approx(state.log_evidence))
        assert (block.known_at, block.is_waiting) == (last, False)
        tally = Tally.objects.get(methodology=method, hand=ana.pk)
        assert (tally.own_used, tally.own_log_e) == (1, pytest.approx(state.log_evidence))


@table(("horizon", "timeframe", "has_control"), [(14 * 24, "medium", True), (14 * 24 + 1, "medium", False)])
def test_a_case_above_fourteen_days_has_no_control_and_counts_all_the_same(ana, horizon, timeframe, has_control):
    post_prices("BTC", (NOON - HOUR * (horizon + 1), "100"), (NOON - HOUR, "102"))
    method = make_methodology(timeframe=timeframe)
    case = make_case(ana, hours=horizon + 1, horizon=horizon, hints=[method])
    run()
    case.refresh_from_db()
    method.refresh_from_db()
    assert (case.control is not None, method.times_used) == (has_control, 1)
    assert Block.objects.get(is_own=False).is_waiting == has_control


def test_blocks_count_in_the_order_in_which_they_become_known_however_late_they_arrive():
    early, late = make_methodology(), make_methodology()
    says = [(1.0, 0.4), (0.0, 0.5), (1.0, 0.45), (1.0, 0.5)] * 20
    add_known(early, *says)
    add_known(late, *says[40:], first=NOON - 400 * DAY + 40 * DAY)
    add_known(late, *says[:40], first=NOON - 400 * DAY - 40 * DAY)
    names = ("log_evidence", "max_log_evidence", "independent_cases", "beats_chance", "decay_at")
    assert [getattr(early, name) for name in names[2:]] == [getattr(late, name) for name in names[2:]]
    assert [getattr(early, name) for name in names[:2]] == [pytest.approx(getattr(late, name)) for name in names[:2]]


@pytest.mark.parametrize("mode", [CourtMode.ADVISE, CourtMode.ENFORCE])
def test_an_enforced_court_demotes_what_decays_and_lets_nothing_graduate_meanwhile(settings, mode):
    settings.MINARA = settings.MINARA.model_copy(update={"methodology_court": mode})
    method = make_methodology(correct=90, used=100, quarantine=0)
    add_known(method, *[(1.0, 0.5)] * 30)
    assert (method.beats_chance, method.decay_at) == (True, None)
    add_known(method, *[(0.0, 0.5)] * 30)
    apply_outcomes([NewOutcome(method.pk, is_correct=True)], actor="test", now=NOON)
    method.refresh_from_db()
    kinds = list(LifecycleEvent.objects.order_by("pk").values_list("kind", flat=True))
    is_enforced = mode is CourtMode.ENFORCE
    assert method.decay_at is not None
    assert method.quarantine == is_enforced, "at the bar, but without skill"
    assert kinds == [*(["demoted"] if is_enforced else []), "outcome_recorded"]
    add_known(method, *[(1.0, 0.5)] * 60)
    apply_outcomes([NewOutcome(method.pk, is_correct=True)], actor="test", now=NOON)
    method.refresh_from_db()
    assert (method.decay_at, method.quarantine) == (None, 0), "its skill is back"


def test_before_e_reaches_twenty_no_light_is_lit():
    method = make_methodology()
    add_known(method, *[(0.0, 0.5)] * 200)
    assert (method.decay_at, method.beats_chance, method.independent_cases) == (None, False, 200)


def test_the_light_takes_nothing_away_that_one_owner_alone_put_out(ana, ben, settings):
    settings.MINARA = settings.MINARA.model_copy(update={"methodology_court": CourtMode.ENFORCE})
    for user in (ana, ben):
        user.set_password("long enough to sign in")
        user.save()
    method = make_methodology(correct=90, used=100, quarantine=0)
    add_known(method, *[(1.0, 0.5)] * 30)
    add_known(method, *[(0.0, 0.5)] * 30, hand=ana.pk)
    assert (method.decay_at is not None, method.quarantine) == (True, 0), "it warns, and takes nothing away"
    add_known(method, *[(0.0, 0.5)] * 30, hand=ben.pk)
    assert method.quarantine == 1


@pytest.mark.database
def test_a_corrected_price_recomputes_evidence_and_takes_a_mark_that_no_longer_stands(ana):
    post_walk(150)
    method = make_methodology()
    add_known(method, *[(1.0, 0.5)] * 19)
    case = make_case(ana, hours=100, horizon=4, hints=[method])
    run()
    method.refresh_from_db()
    case.refresh_from_db()
    block = Block.objects.get(is_own=False, case_id=case.pk)
    method.refresh_from_db()
    assert (method.independent_cases, method.beats_chance) == (20, True)
    Block.objects.filter(methodology=method, is_own=False).exclude(pk=block.pk).update(chance=0.62)
    wrong = str(case.entry_price * 2) if case.outcome_state == "confirmed_bad" else str(case.entry_price / 2)
    post_prices("BTC", (case.exit_price_at, wrong))
    assert run()["rejudged"] == 1
    method.refresh_from_db()
    assert method.independent_cases == 20
    assert method.beats_chance is False
    lost = LifecycleEvent.objects.get(kind="reflection_adjusted")
    assert lost.details == {"mark_lost": "beats_chance"}
    assert list(verify(apply=False, now=NOON)) == []
