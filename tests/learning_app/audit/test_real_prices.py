"""The loop over real candles, judged and audited day by day: each report equals a computation that shares no code."""

from collections import defaultdict
from datetime import datetime, timedelta

import pytest
import time_machine
from django.utils.timezone import now as clock

from learning_app.audit.services.run import run_pass
from learning_app.cases.services.cron import run_cron
from learning_app.cases.services.record import CaseDraft, record_case
from minara_site.kernel.market.importing import import_file
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.services import Series
from tests.kit.shared import shared_path
from tests.learning_app.cases.test_real_prices import HORIZON, SYMBOL, outcome, read_candles, signals, wilson_low
from tests.learning_app.rows import make_methodology

DAY = timedelta(days=1)


@pytest.mark.django_db
def test_each_day_scores_what_an_independent_computation_says(ana):
    known_at, closes = read_candles()
    path = shared_path("data/eth_btc_5m.csv")
    import_file(path=path, series=Series(SYMBOL, 300, "csv", "test"), now=clock(), may_have_gaps=True)
    place_of = {at: place for place, at in enumerate(known_at)}
    methods = {name: make_methodology(name=name) for name in ("rsi", "cross", "breakout")}
    calls = [call for call in signals(closes) if known_at[call[0]] + HORIZON in place_of]
    for place, name, direction in calls:
        draft = CaseDraft(
            SYMBOL,
            f"{name} says so",
            Direction(direction),
            [methods[name].uid],
            6,
            known_at[place],
        )
        record_case(
            owner_id=ana.pk,
            draft=draft,
            actor="command:test",
            origin="",
            is_replay=True,
            now=known_at[-1],
        )
    ended = sorted((known_at[place] + HORIZON, number, place, name) for number, (place, name, _) in enumerate(calls))

    used, right, graduated = defaultdict(int), defaultdict(int), {}
    states: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    closed: list[tuple[datetime, bool | None]] = []
    day, bands = known_at[0].replace(hour=0, minute=0) + 2 * DAY, set()
    while day <= known_at[-1] + 2 * DAY:
        with time_machine.travel(day, tick=False):
            run_cron(now=day, requested_by="test")
            report = run_pass(now=day, requested_by="test")
        while ended and ended[0][0] <= day:
            end, _number, place, name = ended.pop(0)
            said = outcome(closes, place, place_of[end])
            closed.append((day, said))
            if said is None:
                continue
            used[name], right[name] = used[name] + 1, right[name] + said
            low = wilson_low(right[name], used[name])
            if name not in graduated and used[name] >= 10 and low >= 0.55:
                graduated[name] = day
                states[name].append((day, "graduated"))
            elif name in graduated and used[name] >= 20 and low < 0.40:
                del graduated[name]
                states[name].append((day, "demoted"))
        recent = [said for at, said in closed if at >= day - 30 * DAY]
        resolved = sum(said is not None for said in recent)
        expected = {
            "synthesis_quality": None,
            "graduation_fp_rate": None if day - min(graduated.values(), default=day) < 30 * DAY else 100,
            "attribution_integrity": 100 * (0.7 * resolved / len(recent) + 0.3) if recent else None,
            "coverage_health": 100 * min(len(graduated), 3) / 3 / 5 / 3 if graduated else None,
            "quarantine_churn": 100 if states else None,
            "cron_health": 100,
        }
        assert report.scores == {
            name: score if score is None else pytest.approx(score, abs=1e-9) for name, score in expected.items()
        }, day
        bands.add(report.band)
        day += DAY
    assert (len(closed), set(graduated)) == (len(calls), {"rsi"})
    assert len(bands) > 1, "the graduation of a method changes the number"
