"""The budget between real processes: no cap is passed together, and a killed one takes nothing along. R-06, R-08, R-10."""

import json
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from minara_site.kernel.llm.budget import LIVES
from tests.kit.clock import NOON
from tests.kit.messages_api import MessagesApi, serve, tool
from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]

RACERS = "tests.kernel.llm.budget_racers"
TICK = timedelta(microseconds=1)


@pytest.fixture
def capped(site: Site) -> Site:
    """An installation with a cap of one dollar a day."""
    site.environment["MINARA_BUDGET_LEARNING_DAILY_USD"] = "1.00"
    return site


def act(site: Site, function: str, *arguments: Any) -> str:
    """Return the last line that a process wrote; the others are its log."""
    return site.call(f"{RACERS}:{function}", *arguments).splitlines()[-1]


def race(site: Site, *, processes: int, calls: int, what: str = "fire") -> None:
    """Let them all fire at once: ten calls get through, one of them warns, everything else is refused."""
    found = json.loads(act(site, "race", processes, calls, what))
    assert len(found) == processes
    assert sum(each["fired"] for each in found) == 10
    assert sum(each["refused"] for each in found) == processes * calls - 10
    assert sum(each["warned"] for each in found) == 1
    assert site.query("SELECT COUNT(*), ROUND(SUM(cost_usd), 8) FROM llm_usage") == [(10, 1)]
    assert site.query("SELECT COUNT(*) FROM budget_windows WHERE spent_usd = 1 AND calls = 10") == [(3,)]
    assert site.query("SELECT id FROM budget_reservations") == []


def test_no_number_of_processes_passes_a_cap_together(capped: Site) -> None:
    race(capped, processes=8, calls=12)


@pytest.fixture
def priced(capped: Site) -> Iterator[tuple[Site, MessagesApi]]:
    """The same with a model that takes a tenth of a dollar for a hundred tokens of answer, and nothing to read."""
    with serve() as models:
        models.answer = tool({"verdict": "good"}, output_tokens=100)
        prices = json.dumps({"dear": {"input": 0, "output": 1000}})
        capped.environment |= {**models.environment, "MINARA_MODEL_PRICES": prices, "MINARA_MODEL_FAST": "dear"}
        yield capped, models


def test_no_number_of_processes_asks_models_beyond_a_cap(priced: tuple[Site, MessagesApi]) -> None:
    site, models = priced
    race(site, processes=4, calls=6, what="ask")
    assert models.calls == 10


@pytest.mark.soak
@pytest.mark.parametrize("turn", range(20))
def test_sixteen_processes_do_not_ask_models_beyond_a_cap(turn: int, priced: tuple[Site, MessagesApi]) -> None:
    site, models = priced
    race(site, processes=16, calls=50, what="ask")
    assert models.calls == 10


@pytest.mark.soak
@pytest.mark.parametrize("turn", range(20))
def test_sixteen_processes_do_not_pass_a_cap_together(turn: int, capped: Site) -> None:
    race(capped, processes=16, calls=50)


def check_kills(site: Site, times: int) -> None:
    """What the dead reserved counts until it expires, once; what they settled counts for ever."""
    found, room = json.loads(
        act(site, "kill_between", times, [at.isoformat() for at in (NOON + LIVES - TICK, NOON + LIVES)])
    )
    assert found == [
        {
            "paid": dead,
            "spent": dead,
            "reserved": dead,
            "calls": dead,
            "counted": dead,
        }
        for dead in range(1, times + 1)
    ]
    cap = Decimal(site.environment["MINARA_BUDGET_LEARNING_DAILY_USD"])
    assert list(map(Decimal, room)) == [cap - times * Decimal("0.02"), cap - times * Decimal("0.01")]


def test_what_a_killed_process_reserved_counts_until_it_expires(capped: Site) -> None:
    check_kills(capped, 5)


@pytest.mark.soak
def test_fifty_killed_processes_take_nothing_along(capped: Site) -> None:
    capped.environment["MINARA_BUDGET_LEARNING_DAILY_USD"] = "1.01"
    check_kills(capped, 50)


def check_anywhere(site: Site, times: int) -> None:
    """Wherever they die: the sums agree with the rows, and each leaves one reservation at most."""
    site.environment["MINARA_BUDGET_LEARNING_DAILY_USD"] = "1000"
    found = json.loads(act(site, "kill_anywhere", times))
    assert len(found) == times
    for dead, each in enumerate(found, 1):
        assert each["paid"] == each["spent"] == each["calls"] == each["counted"]
        assert 0 <= each["reserved"] <= dead


def test_a_process_killed_anywhere_leaves_sums_that_agree(capped: Site) -> None:
    check_anywhere(capped, 5)


@pytest.mark.soak
def test_fifty_processes_killed_anywhere_leave_sums_that_agree(capped: Site) -> None:
    check_anywhere(capped, 50)
