"""The demo: fills, marks what it fills, and leaves without a trace."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.selectors import list_conflicts
from memory_app.facts.services import consolidate_pending, undo_event
from memory_app.index.models import SearchDocument
from memory_app.memories.core import FactState, State
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services import Draft, record_fact, write_memory
from memory_app.pages.models import CompiledPageVersion
from memory_app.pages.selectors import PageScope, list_assets, load_page, open_asset
from memory_app.roles.core import Classification, SkipReason, Status
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes import find_outcome
from memory_app.roles.registry import registry
from memory_app.roles.selectors import list_manual_due, recent_lessons
from memory_app.search.log import log_search
from memory_app.search.models import SearchLogEntry
from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import set_entry
from minara_site.access.models import AccessEntry, User
from minara_site.access.policy import Role
from minara_site.access.principal import Principal
from minara_site.access.setup import issue_setup_link
from minara_site.access.users import get_user
from minara_site.console.demo import services
from minara_site.console.demo.services import MEI, OLGA, load_demo, remove_demo
from minara_site.console.models import DemoObject
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.demo import DemoLoad
from minara_site.kernel.governance.models import ShadowDecision
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.llm.models import BudgetWindow, LlmUsage
from minara_site.kernel.market.outcome import Outcome
from minara_site.kernel.registry import load as load_list
from profile_app.prompt.models import SessionSnapshot
from tests.kit.clock import NOON
from tests.kit.rows import Rows, all_rows, changed_tables, difference
from tests.kit.tables import Faults, taken_back

pytestmark = pytest.mark.django_db


@pytest.fixture
def default(db: None) -> Any:
    return User.objects.get(is_default=True)


@pytest.fixture(scope="class")
def loaded(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The demo, loaded once for the tests of a class, and rolled back after them."""
    with django_db_blocker.unblock(), ExitStack() as stack:
        for alias in connections:
            stack.enter_context(taken_back(alias))
        assert load_demo(now=NOON, actor="user:7") == Memory.objects.filter(is_demo=True).count() > 80
        yield


@pytest.mark.usefixtures("loaded")
class TestLoaded:
    @pytest.mark.database
    def test_fills_every_category_source_and_state(self, default: Any, now: datetime) -> None:
        memories = Memory.objects.filter(is_demo=True)
        for owner in (default, User.objects.get(username=MEI)):
            own = memories.filter(owner=owner)
            assert {*own.values_list("source", flat=True)} == {*Source}
            assert {memory.state for memory in own} >= {State.LIVE, State.HELD, State.DELETED}
            assert MemoryRevision.objects.filter(memory__in=own).exists()
            assert UserProfileEntry.objects.for_owner(owner).exists()
            assert SessionSnapshot.objects.for_owner(owner).filter(wiped_at=None).exists()
            assert Turn.objects.filter(session__owner=owner).exists()
        assert {*memories.filter(owner=default).values_list("category", flat=True)} == {*Category}
        assert AccessEntry.objects.filter(owner=default).count() == 2

    def test_tells_what_became_of_facts_and_what_was_searched(self, default: Any, now: datetime) -> None:
        for owner in (default, User.objects.get(username=MEI)):
            facts = Memory.objects.for_owner(owner).filter(category=Category.FACT)
            assert {*facts.values_list("fact_state", flat=True)} == {*FactState}
            assert list_conflicts(owner=owner).count() == 1
            events = ConsolidationEvent.objects.for_owner(owner)
            assert {*events.values_list("kind", flat=True)} == {"settled", "deduplicated", "conflict_found"}
            times = list(events.order_by("pk").values_list("at", flat=True))
            assert times[:-1] == sorted(times[:-1])
            assert max(times) < now
            for event in events:
                assert event.at > Memory.objects.get(pk=event.fact_id).created_at
            searches = SearchLogEntry.objects.filter(owner_id=owner.pk)
            assert searches.exists()
            assert all(each.found == each.hits.count() > 0 for each in searches)

    def test_fills_the_pages_of_assets(self, default: Any, now: datetime) -> None:
        mei = User.objects.get(username=MEI)
        for owner, symbol in ((default, "BTC"), (default, "ETH"), (default, "EURUSD"), (mei, "BTC")):
            asked = PageScope(owner, open_asset(symbol), hard_constraints=True)
            page = load_page(asked, reader=owner, now=now)
            assert [len(section.entries) > 1 for section in page.sections] == [True, True], symbol
        assert "比特币" in page.markdown
        assert {group for group, _assets in list_assets(owner=default).items()} >= {"crypto", "stock", "index", "forex"}

    def test_role_memory_shows_every_state_and_class(self, default: Any, now: datetime) -> None:
        entries = RoleMemory.objects.filter(owner=default)
        assert {*entries.values_list("status", flat=True)} == {*Status}
        assert {*entries.values_list("outcome", flat=True)} == {None, *Outcome}
        assert {*entries.values_list("classification", flat=True)} == {None, *Classification}
        assert {*entries.exclude(skip_reason="").values_list("skip_reason", flat=True)} == {*SkipReason}
        assert entries.filter(is_backdated=True).count() == entries.exclude(last_error="").count() == 1
        assert Hold.objects.filter(kind="role_decision").count() == entries.filter(held_at__isnull=False).count() == 1
        assert list_manual_due(owner=default, now=now).count() == 3
        assert ShadowDecision.objects.count() == 1
        assert not [entry for entry in entries.filter(lesson__gt="") if not recent_lessons_hold(entry, now)]

    def test_outcomes_are_those_of_the_prices(self, now: datetime) -> None:
        judged = RoleMemory.objects.filter(outcome_by="price_delta")
        assert judged.count() > 10
        for entry in judged:
            found = find_outcome(entry, registry().find(entry.role_id), now=now)
            assert (found.outcome, found.pnl_pct) == (entry.outcome, pytest.approx(entry.pnl_pct))
            assert (found.entry_quote.price, found.exit_quote.price) == (entry.entry_price, entry.exit_price)

    def test_everything_is_dated_before_now(self, now: datetime) -> None:
        assert not Memory.objects.filter(updated_at__gt=now).exists()
        assert not Session.objects.filter(last_active_at__gt=now).exists()
        assert Memory.objects.filter(updated_at__gte=now - timedelta(hours=1)).exists()
        for memory in Memory.objects.filter(version__gt=1):
            times = [memory.created_at, *memory.revisions.order_by("version").values_list("replaced_at", flat=True)]
            assert times == sorted(times)
            assert times[-1] == memory.updated_at

    def test_is_recorded_and_opens_nothing(self, now: datetime) -> None:
        assert set(AuditEntry.objects.values_list("actor", "at")) == {("user:7", now)}
        assert not any(user.has_usable_password() for user in User.objects.filter(username__startswith="demo-"))
        assert get_user(OLGA).role is Role.OPERATOR
        assert issue_setup_link(now=now)  # its operator counts as none


def recent_lessons_hold(entry: RoleMemory, now: datetime) -> bool:
    found = recent_lessons(owner_id=entry.owner_id, role_id=entry.role_id, as_of=now, most=10)
    return entry.pk in [each.pk for each in found]


@pytest.mark.database
def test_the_windows_of_the_budget_equal_its_calls(default: Any, now: datetime) -> None:
    real = BudgetWindow.objects.create(category="learning", window=f"{now:%Y-%m}", spent_usd="0.5", calls=4)
    load_demo(now=now, actor="command:demo")
    calls = LlmUsage.objects.all()
    assert len(calls) > 8
    for row in BudgetWindow.objects.exclude(pk=real.pk):
        inside = [call for call in calls if str(call.date).startswith(row.window)]
        assert (row.spent_usd, row.calls) == (sum(call.cost_usd for call in inside), len(inside))
    remove_demo(now=now, actor="command:demo")
    left = BudgetWindow.objects.get()
    assert (left.pk, left.spent_usd, left.calls) == (real.pk, Decimal("0.5"), 4)
    assert not LlmUsage.objects.exists()


@pytest.mark.database
def test_loading_twice_is_loading_once(default: Any, now: datetime) -> None:
    load_demo(now=now, actor="command:demo")
    before = all_rows()
    assert load_demo(now=now + timedelta(days=3), actor="command:demo") == 0
    assert all_rows() == before


@pytest.mark.database
def test_removing_leaves_every_table_as_it_was_and_does_nothing_twice(default: Any, ana: Any, now: datetime) -> None:
    for owner in (default, ana):
        provenance = Provenance(Source.USER_MANUAL, f"user:{owner.pk}")
        draft = Draft(Category.PERSONALIZATION, "always set slippage to 0.5%, and ask before going higher", provenance)
        write_memory(owner_id=owner.pk, draft=draft, now=now)
        set_entry(owner=owner, key="risk_tolerance", value="bold", actor="user:1", now=now)
    before = all_rows(without={"audit_log"})
    load_demo(now=now, actor="command:demo")
    assert all_rows(without={"audit_log"}) != before
    removed = remove_demo(now=now, actor="command:demo")
    assert removed > 80
    assert all_rows(without={"audit_log"}) == before
    assert not User.groups.through.objects.exists()
    assert UserProfileEntry.objects.get(owner=default, key="risk_tolerance").value == "bold"
    entry = AuditEntry.objects.get(tool_call="demo_removed")
    assert entry.details == {"count": removed}
    assert remove_demo(now=now, actor="command:demo") == 0
    assert all_rows(without={"audit_log"}) == before
    assert AuditEntry.objects.filter(tool_call="demo_removed").count() == 1


def test_every_part_that_an_app_declares_stores_rows_and_removes_them(default: Any, now: datetime) -> None:
    """The last first; what is left then is the loader's own."""
    faults, empty = Faults(), rows_of_all_databases()
    load_demo(now=now, actor="command:demo")
    people = {user.username: user for user in User.objects.all()}
    load = DemoLoad(now, "command:demo", people, services.mark, services.marked)
    for part in reversed(load_list("demo").values()):
        before = rows_of_all_databases()
        part.remove(load)
        with faults.row(part.name):
            gone, new, _changed = difference(before, rows_of_all_databases())
            assert gone
            assert not new
    faults.show()
    own = {"access_log", "access_user", "access_user_groups", "audit_log", "demo_objects"}
    assert changed_tables(empty, rows_of_all_databases()) == {f"default.{table}" for table in own}


def rows_of_all_databases() -> Rows:
    return {f"{alias}.{table}": rows for alias in connections for table, rows in all_rows(using=alias).items()}


@pytest.mark.database
def test_what_grew_on_the_demo_goes_with_it(default: Any, olga: Any, now: datetime) -> None:
    load_demo(now=now, actor="command:demo")
    memory = Memory.objects.filter(is_demo=True, owner=default).first()
    AccessEntry.objects.create(
        at=now, viewer=olga, owner=User.objects.get(username=MEI), kind="memory", object_id=str(memory.pk)
    )
    undone = ConsolidationEvent.objects.filter(owner=default, kind="deduplicated").get()
    undo_event(principal=Principal(default, Role.USER), owner=default, event_id=undone.pk, now=now)
    for owner in (default, User.objects.get(username=MEI)):
        log_search(principal=Principal(olga, Role.OPERATOR), owner=owner, query="btc", ids=[memory.pk], now=now)
    remove_demo(now=now, actor="command:demo")
    assert list(SearchLogEntry.objects.values_list("owner_id", "query")) == [(default.pk, "")]
    assert not ConsolidationEvent.objects.exists()
    assert not AccessEntry.objects.exists()
    assert not SearchDocument.objects.exists()
    assert not DemoObject.objects.exists()


def test_a_fact_of_the_owner_that_gave_way_to_one_of_the_demo_stands_again(default: Any, now: datetime) -> None:
    load_demo(now=now, actor="command:demo")
    provenance = Provenance(Source.AGENT_RECORDED, "key:test")
    draft = Draft(Category.FACT, "Prefers weekly charts for position trades!", provenance)
    own = record_fact(owner_id=default.pk, draft=draft, now=now)
    consolidate_pending(now=now)
    own.refresh_from_db()
    assert own.fact_state == FactState.RETIRED
    remove_demo(now=now, actor="command:demo")
    own.refresh_from_db()
    assert (own.fact_state, own.retired_at) == (FactState.SETTLED, None)


def test_pages_that_were_compiled_hear_that_it_went(
    default: Any, now: datetime, django_capture_on_commit_callbacks: Any
) -> None:
    load_demo(now=now, actor="command:demo")
    asked = PageScope(default, open_asset("BTC"), hard_constraints=True)
    assert load_page(asked, reader=default, now=now).entries
    with django_capture_on_commit_callbacks(execute=True):
        remove_demo(now=now, actor="command:demo")
    assert not load_page(asked, reader=default, now=now).entries
    assert [row.owner for row in CompiledPageVersion.objects.all()] == [default]  # it counts on, and never goes back


def test_its_operator_stays_while_nobody_else_operates(default: Any, now: datetime) -> None:
    load_demo(now=now, actor="command:demo")
    User.objects.filter(username=OLGA).update(password="set through a link")
    with pytest.raises(CommandError, match="demo-olga is the last operator"):
        call_command("demo", "remove")
    assert Memory.objects.filter(is_demo=True).exists()


def test_the_command_says_what_it_did(default: Any) -> None:
    out = StringIO()
    for act in ("load", "load", "remove", "remove"):
        call_command("demo", act, stdout=out)
    first, second, third, fourth = out.getvalue().splitlines()
    assert first.startswith("Loaded a demo of ")
    assert second == "The demo is loaded already."
    assert third.startswith("Removed the demo and its ")
    assert fourth == "There is no demo to remove."


@pytest.mark.database
def test_a_load_that_fails_leaves_nothing(default: Any, now: datetime, monkeypatch: Any) -> None:
    def fail(*args: Any, **facts: Any) -> None:
        raise OSError("the disk is full")

    before = all_rows()
    monkeypatch.setattr(services, "add_access_rows", fail)
    with pytest.raises(OSError, match="disk"):
        load_demo(now=now, actor="command:demo")
    assert all_rows() == before
