"""Real processes on one database: eight that open and close one trade leave one row."""

import json

import pytest

from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]


def test_eight_processes_open_and_close_one_trade_once(site: Site) -> None:
    ended = json.loads(site.call("tests.learning_app.ledger.racers:open_and_close", 8).splitlines()[-1])
    assert ended == [["trade_recorded", "trade_closed"], [["closed", 100.0]]]
