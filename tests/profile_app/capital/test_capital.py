"""Capital is measured at the sources, keeps what it cannot read, and no user ever sees it (R-46). Source: S3."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from profile_app.activity.core.accounts import AccountSource
from profile_app.activity.services.accounts import add_account
from profile_app.activity.services.days import refresh_days
from profile_app.capital.core import tier_of
from profile_app.capital.models import CapitalMetrics, CapitalReading
from profile_app.capital.services import measure
from profile_app.prompt.selectors import load_next_prompt
from tests.kit.api import agent_of
from tests.kit.clock import NOON
from tests.kit.own_trades import Reply
from tests.kit.page import text_of
from tests.kit.tables import table
from tests.profile_app.activity.rows import make_fill
from tests.profile_app.activity.trader import WALLET

USER = WALLET.lower()
DAY = timedelta(days=1)


@table(
    "total, tier",
    [
        ("0", 1),
        ("9.99", 1),
        ("10", 2),
        ("99.99", 2),
        ("100", 3),
        ("500", 4),
        ("1000", 5),
        ("5000", 6),
        ("10000", 7),
        ("49999.99", 7),
        ("50000", 8),
        ("1e12", 8),
    ],
)
def test_each_edge_begins_a_tier(total, tier):
    assert tier_of(Decimal(total)) == f"tier_{tier}"


@pytest.mark.django_db
@pytest.mark.database
@pytest.mark.usefixtures("frozen")
class TestMeasure:
    @pytest.fixture
    def account(self, ana, exchange):
        exchange.states = {
            f"clearinghouseState:{USER}:": {"marginSummary": {"accountValue": "1200.50"}, "assetPositions": []},
            f"clearinghouseState:{USER}:xyz": {"marginSummary": {"accountValue": "99.5"}},
            f"spotClearinghouseState:{USER}:": {
                "balances": [
                    {"coin": "USDC", "total": "100.0"},
                    {"coin": "PURR", "total": "400"},
                    {"coin": "DEAD", "total": "0.0"},
                ]
            },
        }
        about = {"source": AccountSource.PERPS, "address": WALLET, "label": "", "actor": "user:1", "now": NOON}
        row = add_account(owner=ana, **about)[0]
        make_fill(row, number=1, symbol="xyz:TSLA")
        refresh_days(ana.pk, "UTC")
        return row

    def test_it_sums_derivatives_of_each_venue_and_spot_at_the_mids(self, ana, account):
        assert measure(owner_id=ana.pk, now=NOON) == {"accounts": 1, "missing": 0}
        row = CapitalMetrics.objects.get(pk=ana.pk)
        assert (row.perp_value_usd, row.spot_holdings_usd, row.capital_total_usd) == (1300, 200, 1500)
        assert (row.tier, row.missing) == ("tier_5", [])

    def test_a_part_that_cannot_be_read_keeps_its_last_value(self, ana, account, exchange):
        measure(owner_id=ana.pk, now=NOON)
        exchange.states[f"clearinghouseState:{USER}:"]["marginSummary"]["accountValue"] = "2200.5"
        exchange.answers = lambda asked: Reply(500) if asked["type"].startswith("spot") else None
        measure(owner_id=ana.pk, now=NOON + DAY)
        row = CapitalMetrics.objects.get(pk=ana.pk)
        assert (row.perp_value_usd, row.spot_holdings_usd, row.missing) == (2300, 200, ["spot"])
        assert (row.spot_read_at, row.perp_read_at) == (NOON, NOON + DAY)
        exchange.answers = lambda asked: Reply(body=b"<html>")
        measure(owner_id=ana.pk, now=NOON + 2 * DAY)
        row.refresh_from_db()
        assert (row.capital_total_usd, row.missing) == (2500, ["perp", "spot"])
        assert list(CapitalReading.objects.order_by("pk").values_list("capital_total_usd", flat=True)) == [
            1500,
            2500,
            2500,
        ]

    def test_a_balance_without_a_price_is_a_missing_part(self, ana, account, exchange):
        exchange.states[f"spotClearinghouseState:{USER}:"]["balances"].append({"coin": "ODD", "total": "3"})
        measure(owner_id=ana.pk, now=NOON)
        row = CapitalMetrics.objects.get(pk=ana.pk)
        assert (row.spot_holdings_usd, row.capital_total_usd, row.tier, row.missing) == (None, None, "", ["spot"])

    @table("mid", ["NaN", "Infinity", "-1", "1e17", None, {}])
    def test_a_mid_that_is_no_price_or_too_much_is_a_missing_part(self, ana, account, exchange, mid):
        body = json.dumps({"PURR/USDC": mid, "@142": "NaN"}).encode()
        exchange.answers = lambda asked: Reply(body=body) if asked["type"] == "allMids" else None
        assert measure(owner_id=ana.pk, now=NOON) == {"accounts": 1, "missing": 1}

    def test_no_page_call_tool_or_prompt_of_a_user_says_it(self, ana, account, page, operator_page):
        measure(owner_id=ana.pk, now=NOON)
        CapitalMetrics.objects.update(capital_total_usd=Decimal("7654.32"), tier="tier_6")
        CapitalReading.objects.update(capital_total_usd=Decimal("7654.32"), tier="tier_6")
        agent = agent_of(ana)
        seen = [
            *(text_of(page.get(path)) for path in ("/", "/profile/", "/profile/activity/", "/prompt/")),
            agent.get("/v1/profile").content.decode(),
            agent.get("/v1/profile/accounts").content.decode(),
            agent.post("/v1/tools/personalization_snapshot", {}).content.decode(),
            agent.post("/v1/tools/search_user_trades", {"asset": "TSLA"}).content.decode(),
            load_next_prompt(owner=ana, now=NOON).text,
        ]
        assert not [text for text in seen if "7,654" in text or "7654" in text or "tier_" in text]
        assert page.get("/ops/internals/capital/").status_code == 403
        shown = text_of(operator_page.get("/ops/internals/capital/"))
        assert "tier_6" in shown
        assert "$7,654.32" in shown
