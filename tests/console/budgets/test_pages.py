"""`/ops/budgets/`, `GET /v1/budget` and `minara budget`: the guard's own numbers, and a cap raised for one window."""

import json
import re
from datetime import datetime, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from minara_site.access.keys.services import create_key
from minara_site.access.policy import Scope
from minara_site.console.budgets.services import clear_cap, raise_cap
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import Conflict, Invalid, NotFound
from minara_site.kernel.llm.budget import BudgetExceededError
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.windows import EVERY, Window, utc_day
from minara_site.kernel.llm.models import BudgetWindow, LlmUsage
from minara_site.kernel.llm.selectors import list_calls, load_budget
from tests.kernel.llm.budget_racers import pay, take
from tests.kit.page import text_of, words_of
from tests.kit.tables import table
from tests.memory_app.memories.factories import browser as person

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("frozen")]

URL = "/ops/budgets/"
MAX_QUERIES = 12
HTMX = {"HX-Request": "true"}


def call(cost: str = "0.05", *, now: datetime, task: str = "roles.classify", **fields: Any) -> LlmUsage:
    """Make a call that was paid for."""
    usage = LlmUsage.objects.get(pk=pay(take(Decimal(cost), now=now), Decimal(cost), now=now))
    for name, value in {"task": task, **fields}.items():
        setattr(usage, name, value)
    usage.save()
    return usage


def today(now: datetime, category: str = "learning") -> Window:
    return Window(category, utc_day(now).isoformat())


class TestPage:
    def test_shows_what_is_spent_reserved_and_left_in_words_and_on_the_bar(
        self,
        operator_page: Client,
        now: datetime,
    ) -> None:
        call("0.25", now=now)
        take(Decimal("0.15"), now=now)
        markup = text_of(operator_page.get(URL))
        page = words_of(markup)
        assert "learning Today Reviews, reflection and what is learned" in page
        assert "$0.25 $0.15 $0.60 $1.00" in page
        assert "$0.25 $0.15 $19.60 $20.00" in page
        assert page.count("This month") == 4 + 1  # the categories, and the tab
        assert 'class="bar-soft" width="40.0"' in markup
        assert 'class="bar-fill" width="25.0"' in markup
        assert 'd="M80.0 3v4M100 0v10"' in markup

    def test_says_what_is_past_its_warning_or_used_up(self, operator_page: Client, now: datetime) -> None:
        assert "past the warning" not in text_of(operator_page.get(URL))
        call("0.85", now=now)
        assert "past the warning" in text_of(operator_page.get(URL))
        take(Decimal("0.15"), now=now)
        assert "used up" in text_of(operator_page.get(URL))

    def test_says_that_nobody_called_and_no_model_can_be(self, operator_page: Client) -> None:
        page = words_of(operator_page.get(URL))
        assert "set ANTHROPIC_API_KEY" in page
        assert "No calls today" in page
        assert "No calls yet" in page
        assert "No calls this month" in words_of(operator_page.get(URL + "?span=month"))

    def test_says_who_spent(self, operator_page: Client, now: datetime) -> None:
        for _call in range(2):
            call("0.10", now=now)
        call("0.01", now=now, task="facts.judge", model="main")
        page = words_of(operator_page.get(URL))
        assert "roles.classify learning fast 2 $0.20" in page
        assert page.index("roles.classify learning fast 2") < page.index("facts.judge learning main 1 $0.01")

    def test_lists_calls_with_owner_tokens_and_cost(self, operator_page: Client, ana: Any, now: datetime) -> None:
        call("0.00041", now=now, owner=ana, is_repair=True)
        page = words_of(operator_page.get(URL))
        assert "roles.classify repair decision 1 learning fast ana 100 in, 20 out $0.00041" in page

    @pytest.mark.database
    @table(
        ("query", "found"),
        [
            ("task=facts.judge", {"facts.judge"}),
            ("model=main", {"facts.judge"}),
            ("category=agent", set()),
            ("category=learning", {"facts.judge", "roles.classify"}),
            ("owner=ana", {"facts.judge"}),
            ("owner=nobody", set()),
            ("day=2026-01-31", set()),
            ("day=2026-06-11", set()),
            ("day=2026-06-12", {"facts.judge", "roles.classify"}),
        ],
    )
    def test_filters(
        self,
        query: str,
        found: set[str],
        operator_page: Client,
        ana: Any,
        now: datetime,
    ) -> None:
        call(now=now)
        call(now=now, task="facts.judge", model="main", owner=ana)
        fragment = text_of(operator_page.get(f"{URL}?{query}", headers=HTMX))
        assert set(re.findall(r'data-label="Model"><a[^>]*task=|roles.classify|facts.judge', fragment)) >= found
        assert len(re.findall(r'<tr id="call-', fragment)) == len(found)

    def test_every_amount_leads_to_the_calls_that_it_adds_up(self, operator_page: Client, now: datetime) -> None:
        usage = call("0.25", now=now)
        links = re.findall(r'href="([^"]*#calls)">[$]0.25', text_of(operator_page.get(URL)))
        day, month = today(now).name, today(now).name[:7]
        assert links == [
            f"{URL}?category=learning&amp;day={day}#calls",
            f"{URL}?category=learning&amp;month={month}#calls",
            f"{URL}?day={day}#calls",
        ]
        for link in links:
            assert f'id="call-{usage.pk}"' in text_of(operator_page.get(link.replace("&amp;", "&")))
        for none in ("2020-01", "2026-13", "x"):
            assert f'id="call-{usage.pk}"' not in text_of(operator_page.get(f"{URL}?month={none}"))

    @pytest.mark.database
    def test_goes_on_where_a_page_ends(self, operator_page: Client, now: datetime) -> None:
        made = [call("0.0001", now=now).pk for _call in range(51)]
        page = text_of(operator_page.get(URL))
        assert f'id="call-{made[0]}"' not in page
        following = re.search(r'href="([^"]*cursor=[^"]*)"', page)
        assert following
        assert f'id="call-{made[0]}"' in text_of(operator_page.get(following[1].replace("&amp;", "&")))

    def test_asks_the_database_little_however_much_there_is(
        self,
        operator_page: Client,
        ana: Any,
        now: datetime,
    ) -> None:
        for number in range(20):
            call("0.001", now=now, task=f"task.{number}", owner=ana)
        window = today(now)
        BudgetWindow.objects.filter(category=window.category, window=window.name).update(
            cap_usd=Decimal(3),
            raised_by=f"user:{ana.pk}",
        )
        text_of(operator_page.get(URL))
        with CaptureQueriesContext(connection) as queries:
            text_of(operator_page.get(URL))
        assert len(queries) <= MAX_QUERIES, [each["sql"][:200] for each in queries]


class TestForecast:
    def test_is_the_spending_over_the_share_of_the_window(self, now: datetime) -> None:
        noon = now.replace(hour=12, minute=0, second=0, microsecond=0)
        call("0.20", now=noon)
        (standing,) = [each for each in load_budget(now=noon) if each.window == today(noon)]
        assert standing.forecast(noon) == Decimal("0.40")
        assert standing.forecast(noon - timedelta(hours=11)) is None


class TestRaise:
    def raised(self, operator_page: Client, window: Window, **values: str) -> Any:
        return operator_page.post(f"{URL}{window.category}/{window.name}/raise/", values)

    def test_lets_this_window_cost_more_and_says_who_and_why(
        self,
        operator_page: Client,
        olga: Any,
        now: datetime,
    ) -> None:
        window = today(now)
        assert "until" in text_of(operator_page.get(f"{URL}{window.category}/{window.name}/raise/"))
        answer = self.raised(operator_page, window, cap_usd="3.50", reason="A backlog after the outage")
        assert (answer.status_code, answer.url) == (303, URL)
        take(Decimal("3.50"), now=now)
        entry = AuditEntry.objects.get(tool_call="budget_cap_raised")
        assert (entry.actor, entry.reasoning) == (f"user:{olga.pk}", "A backlog after the outage")
        assert entry.details == {"category": "learning", "window": window.name, "from": "1.00", "to": "3.50"}
        page = words_of(operator_page.get(URL))
        assert "$3.50 raised by you" in page or "$3.50 raised by olga" in page

    @table("cap", ["", "1.00", "0.50", "-3", "0", "NaN", "Infinity", "1e99", "1000000", "2.001", "x"])
    def test_refuses_an_amount_that_is_none_or_too_low_or_too_high(
        self,
        cap: str,
        operator_page: Client,
        now: datetime,
    ) -> None:
        answer = self.raised(operator_page, today(now), cap_usd=cap, reason="More")
        assert answer.status_code == 422
        assert not BudgetWindow.objects.exists()
        assert not AuditEntry.objects.filter(tool_call="budget_cap_raised").exists()

    @table("reason", ["", "   ", "x" * 201, "a\x00b"])
    def test_wants_a_reason(self, reason: str, operator_page: Client, now: datetime) -> None:
        assert self.raised(operator_page, today(now), cap_usd="3", reason=reason).status_code in {400, 422}
        assert not BudgetWindow.objects.exists()

    @table(
        "window",
        [Window("learning", "2020-01-01"), Window("learning", "2020-01"), Window("none", "x"), Window("learning", "x")],
    )
    def test_only_what_runs_now_can_be_raised(self, window: Window, operator_page: Client) -> None:
        assert self.raised(operator_page, window, cap_usd="3", reason="More").status_code == 404

    def test_without_a_cap_over_all_there_is_none_to_raise(self, operator_page: Client, now: datetime) -> None:
        assert self.raised(operator_page, today(now, EVERY), cap_usd="3", reason="More").status_code == 422

    def test_the_cap_over_all_is_raised_like_the_others(
        self,
        operator_page: Client,
        now: datetime,
        settings: Any,
    ) -> None:
        settings.MINARA = settings.MINARA.model_copy(update={"minara_daily_cap_usd": Decimal("0.50")})
        with pytest.raises(BudgetExceededError):
            take(Decimal("0.90"), now=now)
        assert self.raised(operator_page, today(now, EVERY), cap_usd="3", reason="More").status_code == 303
        take(Decimal("0.90"), now=now)

    def test_is_taken_back(self, operator_page: Client, now: datetime) -> None:
        window = today(now)
        self.raised(operator_page, window, cap_usd="3.50", reason="More")
        answer = operator_page.post(f"{URL}{window.category}/{window.name}/clear/")
        assert answer.status_code == 303
        with pytest.raises(BudgetExceededError):
            take(Decimal("1.01"), now=now)
        entry = AuditEntry.objects.get(tool_call="budget_cap_cleared")
        assert entry.details == {"category": "learning", "window": window.name, "from": "3.50"}
        again = operator_page.post(f"{URL}{window.category}/{window.name}/clear/")
        assert again.status_code == 303, "says that it is not"
        assert AuditEntry.objects.filter(tool_call="budget_cap_cleared").count() == 1

    @pytest.mark.database
    def test_a_raise_keeps_what_is_spent(self, operator_page: Client, now: datetime) -> None:
        call("0.25", now=now)
        self.raised(operator_page, today(now), cap_usd="3.50", reason="More")
        row = BudgetWindow.objects.get(category="learning", window=today(now).name)
        assert (row.spent_usd, row.calls, row.cap_usd) == (Decimal("0.25"), 1, Decimal("3.50"))

    def test_the_services_refuse_by_themselves(self, olga: Any, now: datetime) -> None:
        who = person(olga)
        with pytest.raises(Invalid):
            raise_cap(principal=who, window=today(now), cap_usd=Decimal(3), reason=" ", now=now)
        with pytest.raises(NotFound):
            raise_cap(principal=who, window=Window("a", "b"), cap_usd=Decimal(3), reason="More", now=now)
        with pytest.raises(Conflict):
            clear_cap(principal=who, window=today(now), now=now)


class TestElsewhere:
    def test_an_operators_home_names_what_is_near_its_cap(self, operator_page: Client, now: datetime) -> None:
        assert "near or at their cap" not in text_of(operator_page.get("/"))
        call("0.85", now=now)
        assert "learning Today: $0.15 of $1.00 left" in words_of(operator_page.get("/"))
        pay(take(Decimal("0.10"), now=now), Decimal("1.20"), now=now)  # more than it was thought to cost
        assert "learning Today: used up" in words_of(operator_page.get("/"))

    def test_nobody_elses_home_does(self, page: Client, now: datetime) -> None:
        call("0.85", now=now)
        assert "near or at their cap" not in text_of(page.get("/"))

    def test_metrics_say_what_is_spent_reserved_and_allowed(self, client: Client, olga: Any, now: datetime) -> None:
        call("0.25", now=now)
        take(Decimal("0.15"), now=now)
        key = create_key(user=olga, scopes=[Scope.OPERATOR], now=now, actor="test")
        lines = text_of(client.get("/metrics", headers={"Authorization": f"Bearer {key.text}"})).splitlines()
        assert 'minara_budget_spent_usd{category="learning",window="day"} 0.25' in lines
        assert 'minara_budget_reserved_usd{category="learning",window="month"} 0.15' in lines
        assert 'minara_budget_cap_usd{category="agent",window="month"} 200.0' in lines
        assert not any(line.startswith('minara_budget_cap_usd{category="all"') for line in lines)


class TestApi:
    def test_answers_the_shape_of_the_contract(self, client: Client, olga: Any, now: datetime) -> None:
        call("0.25", now=now)
        take(Decimal("0.15"), now=now)
        key = create_key(user=olga, scopes=[Scope.OPERATOR], now=now, actor="test")
        answer = client.get("/v1/budget", headers={"Authorization": f"Bearer {key.text}"})
        assert answer.status_code == 200
        found = answer.json()["data"]["categories"]
        assert list(found) == [category.value for category in Category]
        assert found["learning"] == {
            "day": {"spent_usd": "0.25", "reserved_usd": "0.15", "cap_usd": "1.00"},
            "month": {"spent_usd": "0.25", "reserved_usd": "0.15", "cap_usd": "20.00"},
        }
        assert found["agent"]["month"] == {"spent_usd": "0.00", "reserved_usd": "0.00", "cap_usd": "200.00"}


class TestCommand:
    def test_prints_a_line_for_each_window_or_what_the_api_answers(self, now: datetime) -> None:
        call("0.25", now=now)
        out = StringIO()
        call_command("budget", stdout=out)
        lines = out.getvalue().splitlines()
        assert len(lines) == 9
        assert lines[1].split()[:5] == ["learning", today(now).name, "0.25", "0.00", "1.00"]
        out = StringIO()
        call_command("budget", "--json", stdout=out)
        assert json.loads(out.getvalue())["categories"]["learning"]["day"]["spent_usd"] == "0.25"

    def test_marks_a_raised_cap(self, now: datetime) -> None:
        window = today(now)
        BudgetWindow.objects.create(category=window.category, window=window.name, cap_usd=Decimal(3))
        out = StringIO()
        call_command("budget", stdout=out)
        assert "3.00*" in out.getvalue()


def test_every_filter_and_the_spenders_walk_an_index(now: datetime) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite says plainly which index it takes")
    for narrowed in ({"category": "agent"}, {"task": "x"}, {"model": "x"}, {"owner_id": 1}):
        plan = list_calls().filter(**narrowed).order_by("-ts", "-id")[:51].explain()
        assert "USING INDEX llm_usage_by" in plan, plan
        assert "TEMP B-TREE" not in plan, plan
