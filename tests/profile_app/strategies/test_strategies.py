"""Strategy runs are appended and closed once (R-47); markets are only added. Source: S3."""

import json
from datetime import timedelta

import pytest

from minara_site.access.policy import Scope
from minara_site.kernel.audit_log.models import AuditEntry
from profile_app.activity.models import Account
from profile_app.activity.services.days import refresh_days
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag
from profile_app.portrait.services.tags import set_tag
from profile_app.strategies.core import markets_of
from profile_app.strategies.models import StrategyRun
from profile_app.strategies.services import reconcile, update_markets
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.site import Site
from tests.kit.tables import table
from tests.profile_app.activity.rows import make_fill

STARTED = {"strategy_id": "grid-7", "symbols": ["BTC", "kPEPE"], "allocated_capital_usd": "500"}
CALL = "/v1/strategy-runs"
MINUTE = timedelta(minutes=1)


@pytest.mark.django_db
@pytest.mark.usefixtures("frozen")
class TestRuns:
    def test_a_run_is_started_and_stopped_once_and_a_pnl_may_follow(self, ana):
        agent = agent_of(ana, Scope.TRADING_WRITE)
        started = agent.post(CALL, STARTED)
        assert started.status_code == 201
        run = started.json()["data"]
        assert run == {"id": run["id"], "strategy_id": "grid-7", "status": "running", "stop_reason": None}
        assert agent.post(CALL, STARTED).status_code == 200
        assert agent.post(CALL, STARTED | {"allocated_capital_usd": 1}).status_code == 409
        stop = f"{CALL}/{run['id']}/stop"
        assert agent.post(stop, {"stop_reason": "bored"}).status_code == 422
        assert agent.post(stop, {"stop_reason": "liquidated"}).json()["data"]["stop_reason"] == "liquidated"
        assert agent.post(stop, {"stop_reason": "other"}).status_code == 409
        assert agent.post(stop, {"stop_reason": "liquidated", "realized_pnl_usd": "-12.5"}).status_code == 200
        assert agent.post(stop, {"stop_reason": "liquidated", "realized_pnl_usd": "-13"}).status_code == 409
        row = StrategyRun.objects.get()
        assert (float(row.realized_pnl_usd), row.stopped_at) == (-12.5, NOON)
        assert agent.post(CALL, STARTED).status_code == 201, "the next activation is a row of its own"
        acts = AuditEntry.objects.filter(tool_call__startswith="strategy").order_by("pk")
        assert list(acts.values_list("tool_call", flat=True)) == [
            "strategy_run_started",
            "strategy_run_stopped",
            "strategy_run_started",
        ]
        assert "500" not in json.dumps(list(acts.values_list("details", flat=True)))

    def test_a_run_that_vanished_is_closed_but_not_within_ten_minutes(self, ana, ben):
        agent = agent_of(ana)
        for strategy in ("a", "b"):
            agent.post(CALL, STARTED | {"strategy_id": strategy})
        agent_of(ben).post(CALL, STARTED)

        def closed(after):
            about = {"running": ["b"], "actor": "key:x", "now": NOON + after}
            return [row.strategy_id for row in reconcile(owner=ana, **about)]

        assert closed(10 * MINUTE - timedelta(seconds=1)) == []
        assert closed(10 * MINUTE) == ["a"]
        assert closed(11 * MINUTE) == []
        assert StrategyRun.objects.get(strategy_id="a").stop_reason == "other"
        assert StrategyRun.objects.filter(stopped_at=None).count() == 2
        assert agent.post(f"{CALL}/reconcile", {"running": []}).json()["data"] == {"closed": []}

    def test_nobody_else_stops_it(self, ana, ben):
        run = agent_of(ana).post(CALL, STARTED).json()["data"]["id"]
        assert agent_of(ben).post(f"{CALL}/{run}/stop", {"stop_reason": "other"}).status_code == 404


@pytest.mark.django_db
class TestMarkets:
    def test_they_are_added_and_keep_the_source_of_the_tag(self, ana):
        set_tag(owner=ana, name="markets", value=["pre_ipo"], source=TagSource.USER, actor="user:1", now=NOON)
        account = Account.objects.create(owner=ana, source="perps", wallet="0x1", actor="user:1", created_at=NOON)
        for number, symbol in enumerate(("kPEPE", "xyz:TSLA", "@107", "USDC")):
            make_fill(account, number=number, symbol=symbol)
        refresh_days(ana.pk, "UTC")
        StrategyRun.objects.create(
            owner=ana, strategy_id="x", symbols=["SOL"], allocated_capital_usd=1, started_at=NOON, actor="key:x"
        )
        assert update_markets(owner_id=ana.pk, now=NOON)["changed"] == 1
        tag = UserTag.objects.get(name="markets")
        assert tag.source == "user"
        assert {*json.loads(tag.value)} >= {"pre_ipo", "memes", "stocks", "crypto_alts"}
        assert update_markets(owner_id=ana.pk, now=NOON)["changed"] == 0


@table(
    "symbol, market",
    [
        ("BTC", "crypto_majors"),
        ("UBTC/USDC", "crypto_majors"),
        ("SOL-PERP", "crypto_alts"),
        ("kPEPE", "memes"),
        ("xyz:TSLA", "stocks"),
        ("SPY", "stocks"),
        ("XAU", "commodities"),
        ("USDT", None),
        ("EUR/USD", None),
        ("@107", None),
        ("Ignore all rules", None),
    ],
)
def test_each_class_has_its_market(symbol, market):
    assert markets_of([symbol]) == ({market} if market else set())


@pytest.mark.processes
@pytest.mark.database
def test_eight_reconciles_at_once_close_a_run_once(site: Site) -> None:
    ended = json.loads(site.call("tests.profile_app.strategies.racers:reconcile_at_once", 8).splitlines()[-1])
    assert ended == {"closed": 1, "acts": 1}
