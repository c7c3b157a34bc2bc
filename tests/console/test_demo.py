"""The demo: fills, marks what it fills, and leaves without a trace."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from datetime import datetime, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client, override_settings
from django.utils import timezone

from learning_app.audit.models import AuditReport
from learning_app.audit.selectors import findings_of, newest_report
from learning_app.audit.services.acknowledge import acknowledge
from learning_app.cases.models import CronRun, TradingCase
from learning_app.cases.services.record import CaseDraft, Recorder, record_case
from learning_app.cases.services.verify import verify_method
from learning_app.institution.models import InstitutionRun
from learning_app.learnings.models import Learning
from learning_app.learnings.services.change import edit_guidance
from learning_app.ledger.core import EngineKind
from learning_app.ledger.models import Deployment, Trade
from learning_app.ledger.services import TradeDraft, record_trade
from learning_app.methodologies.models import LifecycleEvent, Methodology
from learning_app.methodologies.selectors import find_injected
from learning_app.methodologies.services.decide import quarantine
from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import approve
from learning_app.ticks.core import Report
from learning_app.ticks.services.record import record_tick
from learning_app.vocabulary import LifecycleKind, OutcomeState
from memory_app.facts.models import ConsolidationEvent
from memory_app.facts.selectors import list_conflicts
from memory_app.facts.services import consolidate_pending, undo_event
from memory_app.index.models import SearchDocument
from memory_app.memories.core import FactState, State
from memory_app.memories.models import Memory, MemoryRevision
from memory_app.memories.services import Changes, Draft, edit_memory, record_fact, write_memory
from memory_app.pages.models import CompiledPageVersion
from memory_app.pages.selectors import PageScope, list_assets, load_page, open_asset
from memory_app.roles.core import Classification, SkipReason, Status
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes import find_outcome
from memory_app.roles.registry import registry
from memory_app.roles.selectors import list_manual_due, recent_lessons
from memory_app.roles.services.outcome import mark_outcome
from memory_app.search.log import log_search
from memory_app.search.models import SearchLogEntry
from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import set_entry
from minara_site.access.keys.services import create_key
from minara_site.access.models import AccessEntry, Invitation, User
from minara_site.access.policy import Role, Scope
from minara_site.access.principal import Principal
from minara_site.access.setup import issue_setup_link
from minara_site.access.users import change_role, get_user
from minara_site.console.demo import services
from minara_site.console.demo.services import MEI, OLGA, load_demo, preview_removal, remove_demo
from minara_site.console.models import DemoObject
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.conversations.services import NewTurn, record_turn
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.demo import DemoLoad
from minara_site.kernel.governance.models import ShadowDecision
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.jobs.models import OwnerSchedule
from minara_site.kernel.llm.models import BudgetWindow, LlmUsage
from minara_site.kernel.market.moves import find_move
from minara_site.kernel.market.outcome import Direction, Outcome
from minara_site.kernel.registry import load as load_list
from minara_site.shell.undo import undo_set
from profile_app.activity.core.accounts import SYNC, AccountSource
from profile_app.activity.models import Account, FundingPayment, SpotActivity
from profile_app.activity.pages import page_context
from profile_app.activity.selectors import load_trading_profile
from profile_app.activity.services.accounts import add_account
from profile_app.activity.services.sync import SyncRun, list_targets
from profile_app.capital.models import CapitalMetrics, CapitalReading
from profile_app.capital.services import store
from profile_app.documents.core import Origin
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import UserTag
from profile_app.portrait.services.profile import save_custom_prompt
from profile_app.portrait.services.tags import set_tag
from profile_app.prompt.models import SessionSnapshot
from profile_app.rebuild.core import Flow
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.services.run import rebuild
from profile_app.strategies.models import StrategyRun
from profile_app.strategies.services import start_run
from profile_app.workspace.services.files import write_file
from tests.kit.clock import NOON
from tests.kit.page import text_of
from tests.kit.rows import Rows, all_rows, changed_tables, difference
from tests.kit.tables import Faults, taken_back
from tests.learning_app.audit.rows import make_report
from tests.learning_app.rows import make_run

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

    def test_institution_runs_have_every_answer_and_scores_that_follow_the_prices(self, default: Any) -> None:
        runs = InstitutionRun.objects.filter(owner=default, is_demo=True).order_by("decided_at")
        scores = [list(run.reflections.order_by("due_at").values_list("outcome_state", flat=True)[:3]) for run in runs]
        assert scores == [
            ["confirmed_good", "confirmed_good", "pending"],
            ["confirmed_good", "confirmed_bad", "pending"],
        ]
        assert [(run.outputs.count(), len(run.cited), run.feeds) for run in runs] == [(14, 0, False), (14, 1, False)]

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

    def test_trading_cases_show_every_outcome_and_follow_the_prices(self, default: Any, now: datetime) -> None:
        for owner, least in ((default, 90), (User.objects.get(username=MEI), 10)):
            assert TradingCase.objects.filter(owner=owner).count() > least
        cases = TradingCase.objects.all()
        assert {*cases.values_list("outcome_state", flat=True)} == {*OutcomeState}
        assert {*cases.values_list("judged_by", flat=True)} == {"", "instance", "owner"}
        assert cases.filter(backdated=True).count() == cases.filter(held_at__isnull=False).count() == 1
        assert not cases.filter(is_demo=False).exists()
        assert min(cases.pending().values_list("window_ends_at", flat=True)) > now
        assert not cases.filter(window_ends_at__range=(now - timedelta(hours=6), now)).exists()  # at any hour of a day
        for case in cases.exclude(judged_by=""):
            move = find_move(case.asset, case.window, owner_id=case.owner_id, now=now)
            assert (move.entry.price, move.exit.price) == (case.entry_price, case.exit_price)
        assert CronRun.objects.filter(is_ok=True, ended_at__lte=now).count() == 3

    def test_methodologies_stand_on_every_rung_of_the_ladder(self, now: datetime) -> None:
        rows = Methodology.objects.all()
        graduated, injected = rows.graduated(), find_injected(rows)
        assert (len(graduated), len(injected)) == (2, 1)
        assert rows.get(pk__in=injected).beats_chance
        waiting = (rows.near_graduation(), rows.kept_back(), rows.filter(held_at__isnull=False))
        assert [len(each) for each in waiting] == [1, 1, 1]
        assert rows.filter(phases__isnull=False, times_used__gt=0).exists()
        assert rows.get(times_seen=3).events.filter(kind=LifecycleKind.DEDUPLICATED).count() == 2
        kinds = {*LifecycleEvent.objects.values_list("kind", flat=True)}
        assert kinds >= {*map(LifecycleKind, ("created", "graduated", "demoted", "quarantined", "outcome_recorded"))}
        for row in rows:
            times = list(row.events.order_by("pk").values_list("at", flat=True))
            assert times == sorted(times)
            assert row.hint_rows.filter(credited_at__isnull=False).count() == row.times_used
            assert not [*verify_method(row, list(row.events.order_by("pk")), apply=False, now=now)]

    def test_own_trades_have_something_of_everything_and_ask_no_source(self, default: Any, now: datetime) -> None:
        whole, month = (load_trading_profile(default, now=now, days=days) for days in (90, 30))
        assert whole.by_market.keys() == {"BTC", "ETH", "SOL"}
        assert (month.perps.gaps, month.perps.liquidations, whole.perps.unknown_dirs) == (1, 1, 0)
        assert min(whole.perps.won_fills, whole.perps.closing_fills - whole.perps.won_fills) > 20
        assert whole.perps.fees_usd > 0
        assert FundingPayment.objects.exists()
        assert SpotActivity.objects.filter(is_demo=True).exists()
        assert Account.objects.filter(is_demo=True).count() == 2
        with override_settings(
            MINARA=settings.MINARA.model_copy(update={"hyperliquid_info_url": "http://127.0.0.1:1"})
        ):
            assert list_targets(SyncRun(default, now), is_forced=True) == []
            readers = {row["reader"] for row in page_context(default, default, now=now)["accounts"]}
        assert readers == {None}
        trades = Trade.objects.filter(is_demo=True)
        assert {*trades.values_list("status", "side")} == {
            (a, b) for a in ("open", "closed") for b in ("long", "short")
        } - {("open", "short")}
        assert not trades.filter(held_at__isnull=False).exists()
        runs = RebuildRun.objects.filter(owner=default)
        assert {*runs.values_list("outcome", flat=True)} == {"written", "failed", "not_asked"}
        assert StrategyRun.objects.filter(stopped_at=None).count() == 1
        assert CapitalReading.objects.count() > 3

    def test_what_the_demos_rebuild_wrote_can_be_undone(self, default: Any, now: datetime) -> None:
        run = RebuildRun.objects.get(owner=default, outcome="written")
        made = ChangeSet.objects.get(run=run.subject)
        undo_set(made.pk, principal=Principal(default, Role.USER), now=now)
        values = dict(UserTag.objects.filter(owner=default).values_list("name", "value"))
        assert (values["web3_knowledge_level"], values["FOMO Index"]) == ("level_2", "Medium")
        assert len(run.wrote) == 2

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


def test_writers_lists_the_demos_key_without_a_roll_back(default: Any, operator_page: Client) -> None:
    load_demo(now=timezone.now(), actor="command:demo")
    line = operator_page.get("/ops/writes/").content.decode().split("key:demo</span>")[1].split("</tr>")[0]
    assert "its rows go when the demo is removed" in line
    assert "Roll back" not in line


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
    removed = remove_demo(now=now, actor="command:demo").memories
    assert removed > 80
    assert all_rows(without={"audit_log"}) == before
    assert not User.groups.through.objects.exists()
    assert UserProfileEntry.objects.get(owner=default, key="risk_tolerance").value == "bold"
    entry = AuditEntry.objects.get(tool_call="demo_removed")
    assert entry.details == {"count": removed}
    assert remove_demo(now=now, actor="command:demo") is None
    assert all_rows(without={"audit_log"}) == before
    assert AuditEntry.objects.filter(tool_call="demo_removed").count() == 1


def test_every_part_that_an_app_declares_stores_rows_and_removes_them(default: Any, now: datetime) -> None:
    """The last first; what is left then is the loader's own."""
    faults, empty = Faults(), rows_of_all_databases()
    load_demo(now=now, actor="command:demo")
    people = {user.username: user for user in User.objects.all()}
    load = DemoLoad(now, "command:demo", people, services.mark, services.marked, now)
    for part in reversed(load_list("demo").values()):
        before = rows_of_all_databases()
        part.remove(load)
        part.delete_elsewhere(load, [])
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
        at=now,
        viewer=olga,
        owner=User.objects.get(username=MEI),
        kind="memory",
        object_id=str(memory.pk),
    )
    undone = ConsolidationEvent.objects.filter(owner=default, kind="deduplicated").get()
    undo_event(principal=Principal(default, Role.USER), owner=default, event_id=undone.pk, now=now)
    for owner in (default, User.objects.get(username=MEI)):
        log_search(
            principal=Principal(olga, Role.OPERATOR),
            owner=owner,
            query="btc",
            ids=[memory.pk],
            now=now,
        )
    remove_demo(now=now, actor="command:demo")
    assert list(SearchLogEntry.objects.values_list("owner_id", "query")) == [(default.pk, "")]
    assert not ConsolidationEvent.objects.exists()
    assert not AccessEntry.objects.exists()
    assert not SearchDocument.objects.exists()
    assert not DemoObject.objects.exists()


def edit_a_memory(owner: Any, now: datetime) -> Any:
    typed = Memory.objects.live().filter(category=Category.PERSONALIZATION, source=Source.USER_MANUAL)
    row = typed.filter(owner=owner, is_demo=True).first()
    return edit_memory(
        principal=Principal(owner, Role.USER),
        memory_id=row.pk,
        changes=Changes(content="mine now"),
        now=now,
    )


def record_a_fact(owner: Any, now: datetime) -> Any:
    draft = Draft(Category.FACT, "Sleeps on Sundays", Provenance(Source.AGENT_RECORDED, "key:test"))
    return record_fact(owner_id=owner.pk, draft=draft, now=now)


def set_a_value(owner: Any, now: datetime) -> Any:
    key = UserProfileEntry.objects.for_owner(owner).first().key
    return set_entry(owner=owner, key=key, value="mine now", actor=f"user:{owner.pk}", now=now).entry


def mark_an_outcome(owner: Any, now: datetime) -> Any:
    entry = list_manual_due(owner=owner, now=now).filter(is_demo=True).first()
    said = {"correct": True, "pnl_pct": None, "note": "mine now", "actor": f"user:{owner.pk}"}
    return mark_outcome(owner=owner, entry_id=entry.pk, now=now, **said)


def record_a_turn(owner: Any, now: datetime) -> Any:
    session = Session.objects.for_owner(owner).open().first()
    turn, door = NewTurn("and now?", "wait"), {"owner": owner, "session_id": session.pk, "actor": "key:test"}
    return record_turn(turn=turn, now=now, **door)


def quarantine_a_methodology(owner: Any, now: datetime) -> Any:
    uid = Methodology.objects.near_graduation().get().uid
    return quarantine(uid=uid, reason="mine now", actor=f"user:{owner.pk}", now=now)


def record_a_case(owner: Any, now: datetime) -> Any:
    hint = Methodology.objects.injected().get()
    draft = CaseDraft("BTC", "RSI turns up: long for a day", Direction(hint.direction), [hint.uid])
    return record_case(draft=draft, by=Recorder(owner.pk, "key:test"), now=now)[0]


def edit_a_learning(owner: Any, now: datetime) -> Any:
    row = Learning.objects.live().filter(owner=owner, is_demo=True).first()
    me = Principal(owner, Role.USER)
    return edit_guidance(principal=me, owner=owner, uid=row.uid, guidance="mine now", now=now)


def approve_a_preference_in_own_words(owner: Any, now: datetime) -> Any:
    row = Preference.objects.proposed().filter(owner=owner, is_demo=True, kind="soft_preference").first()
    actor = f"user:{owner.pk}"
    return approve(preference_id=row.pk, owner=owner, statement="mine now", actor=actor, now=now)


def acknowledge_a_finding(owner: Any, now: datetime) -> Any:
    code = findings_of(newest_report())[0]["code"]
    return acknowledge(codes=[code], note="mine now", actor=f"user:{owner.pk}", now=now)[0]


def run_a_committee(owner: Any, now: datetime) -> Any:
    return make_run(owner, at=now)


def write_a_custom_prompt(owner: Any, now: datetime) -> Any:
    by_owner = {"origin": Origin.PAGE, "actor": f"user:{owner.pk}"}
    return save_custom_prompt(owner=owner, content="mine now", now=now, **by_owner).document


def write_an_agent_file(owner: Any, now: datetime) -> Any:
    by_owner = {"origin": Origin.PAGE, "actor": f"user:{owner.pk}"}
    return write_file(owner=owner, name="USER.md", content="mine now", now=now, **by_owner).document


def declare_a_tag(owner: Any, now: datetime) -> Any:
    actor = f"user:{owner.pk}"
    return set_tag(
        owner=owner,
        name="risk",
        value="aggressive",
        source=TagSource.USER,
        actor=actor,
        now=now,
    ).tag


def add_an_account(owner: Any, now: datetime) -> Any:
    address = "0x52908400098527886E0F7030069857D2E4169EE7"
    return add_account(
        owner=owner, source=AccountSource.PERPS, address=address, label="", actor=f"user:{owner.pk}", now=now
    )[0]


def close_a_trade(owner: Any, now: datetime) -> Any:
    row = Trade.objects.filter(owner=owner, is_demo=True, status="open", deployment=None).first()
    draft = TradeDraft(
        row.symbol, row.side, row.entry_size_usd, row.entry_price, row.entry_tick_at, exit_price=row.entry_price
    )
    return record_trade(draft=draft, owner_id=owner.pk, actor="key:test", now=now)[0]


def report_a_tick(owner: Any, now: datetime) -> Any:
    deployment = Deployment.objects.get(owner=owner, is_demo=True)
    report = Report(at=now, equity_usd=Decimal(10_000), positions={}, costs={}, engine=EngineKind.NOOP)
    record_tick(deployment=deployment, report=report, actor="key:test", now=now)
    return deployment


def start_a_strategy(owner: Any, now: datetime) -> Any:
    values = {"symbols": ["BTC"], "allocated_capital_usd": Decimal(100), "actor": "key:test"}
    return start_run(owner=owner, strategy_id="mine", now=now, **values)[0]


def run_a_rebuild(owner: Any, now: datetime) -> Any:
    rebuild(Flow.MEMORIES, owner_id=owner.pk, now=now, is_forced=True)
    return RebuildRun.objects.filter(owner=owner).latest("pk")


def measure_the_capital(owner: Any, now: datetime) -> Any:
    store(owner, {"perp": Decimal(1), "spot": None}, now=now, has_unread=False)
    return CapitalMetrics.objects.get(owner=owner)


WRITTEN = {
    "activity_accounts": add_an_account,
    "trades": close_a_trade,
    "deployments": report_a_tick,
    "strategy_runs": start_a_strategy,
    "rebuild_runs": run_a_rebuild,
    "capital": measure_the_capital,
    "user_tags": declare_a_tag,
    "workspace": write_an_agent_file,
    "financial_profile": write_a_custom_prompt,
    "methodologies": quarantine_a_methodology,
    "trading_cases": record_a_case,
    "audit_reports": acknowledge_a_finding,
    "learnings": edit_a_learning,
    "institution": run_a_committee,
    "preferences": approve_a_preference_in_own_words,
    "memories": edit_a_memory,
    "facts": record_a_fact,
    "user_profile": set_a_value,
    "decisions": mark_an_outcome,
    "sessions": record_a_turn,
    "searches": record_a_fact,  # what was searched is a log and goes with its account; what was written then stays
}


def test_the_demo_loads_beside_a_real_audit_and_leaves_it(default: Any, now: datetime) -> None:
    report = make_report(created_at=now - timedelta(minutes=5), findings=[{"code": "groups_uncovered"}])
    given = acknowledge(codes=["groups_uncovered"], note="mine", actor=f"user:{default.pk}", now=now)[0]
    load_demo(now=now, actor="command:demo")
    remove_demo(now=now, actor="command:demo")
    given.refresh_from_db()
    assert list(AuditReport.objects.all()) == [report]


@pytest.mark.database
def test_of_every_part_what_was_written_after_the_load_stays(default: Any, now: datetime) -> None:
    assert WRITTEN.keys() == {part.name for part in load_list("demo").values()}
    load_demo(now=now, actor="command:demo")
    later, faults = now + timedelta(hours=1), Faults()
    written = [(name, write(default, later)) for name, write in WRITTEN.items()]
    OwnerSchedule.objects.create(owner=User.objects.get(username=MEI), job=SYNC)  # that a job is due is no writing
    before = rows_of_all_databases()
    shown = preview_removal(now=later)
    assert rows_of_all_databases() == before
    assert remove_demo(now=later, actor="command:demo") == shown
    for name, row in written:
        with faults.row(name):
            row.refresh_from_db()
            assert not getattr(row, "is_demo", False)
    faults.show()
    kinds = ("Memories and facts", "Profile values", "Decisions", "Sessions", "Learnings", "Preferences")
    kept = dict.fromkeys(kinds, 1)
    kept |= dict.fromkeys(("Texts of the profile", "Agent files", "Tags", "Trades", "Trading agents"), 1)
    kept["Methodologies"] = 2  # the one that was quarantined, and the one at which the case hints
    assert {str(rows.label): rows.kept for rows in shown.rows if rows.kept} == kept
    assert not User.objects.filter(username__startswith="demo-").exists()
    assert load_demo(now=later, actor="command:demo") > 80


@pytest.mark.database
def test_accounts_with_something_in_them_stay_and_say_why(default: Any, now: datetime) -> None:
    load_demo(now=now, actor="command:demo")
    mei, olga = (User.objects.get(username=name) for name in (MEI, OLGA))
    fact = record_a_fact(mei, now + timedelta(hours=1))
    create_key(user=mei, scopes=[Scope.MEMORY_READ], now=now, actor="test", label="")
    User.objects.filter(pk=olga.pk).update(password="set through a link")
    assert dict(remove_demo(now=now, actor="command:demo").kept) == {
        MEI: "A person or an agent wrote into it. Memory: 1, API key: 1",
        OLGA: "a person has taken it over, or was invited to",
    }
    assert list(Memory.objects.values_list("pk", flat=True)) == [fact.pk]
    load_demo(now=now, actor="command:demo")
    assert {mei.username, olga.username, "demo-mei-2", "demo-olga-2"} <= {
        *User.objects.values_list("username", flat=True)
    }
    assert remove_demo(now=now, actor="command:demo").gone == ["demo-mei-2", "demo-olga-2"]


@pytest.mark.usefixtures("loaded")
class TestRemoved:
    def test_a_fact_of_the_owner_that_gave_way_to_one_of_the_demo_stands_again(self, default: Any, now: Any) -> None:
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
        self,
        default: Any,
        now: datetime,
        django_capture_on_commit_callbacks: Any,
    ) -> None:
        asked = PageScope(default, open_asset("BTC"), hard_constraints=True)
        assert load_page(asked, reader=default, now=now).entries
        with django_capture_on_commit_callbacks(execute=True):
            remove_demo(now=now, actor="command:demo")
        assert not load_page(asked, reader=default, now=now).entries
        assert CompiledPageVersion.objects.get().owner == default  # it counts on, and never goes back

    @pytest.mark.parametrize("change", ["role", "invitation", "sign-in"])
    def test_an_account_that_somebody_gave_away_stays(self, default: Any, now: datetime, change: str) -> None:
        mei = User.objects.get(username=MEI)
        if change == "role":
            change_role(username=MEI, role=Role.SUPPORT, now=now, actor="user:1")
        elif change == "invitation":
            Invitation.objects.create(user=mei, token_sha256="0" * 64, created_at=now, expires_at=now)
        else:
            User.objects.filter(pk=mei.pk).update(last_login=now)
        assert [name for name, _why in remove_demo(now=now, actor="command:demo").kept] == [MEI]

    def test_the_page_counts_first_and_asks_for_a_word(self, operator_page: Client) -> None:
        page = text_of(operator_page.get("/demo/remove/"))
        assert re.search(r"Decisions</td><td[^>]*>\d+", page)
        assert page.count("demo-") == 2
        assert operator_page.post("/demo/remove/", {"word": "yes"}).status_code == 422
        assert Memory.objects.filter(is_demo=True).exists()
        assert operator_page.post("/demo/remove/", {"word": "demo"}).status_code == 303
        assert not Memory.objects.filter(is_demo=True).exists()
        assert "There is no demo to remove." in text_of(operator_page.get("/demo/remove/"))

    def test_a_terminal_is_asked_first(self, default: Any, now: datetime, monkeypatch: Any) -> None:
        for is_asked in (True, False):
            terminal = StringIO("no\n")
            terminal.isatty = lambda: True  # type: ignore[method-assign]
            monkeypatch.setattr("sys.stdin", terminal)
            out = StringIO()
            quiet = settings.MINARA.model_copy(update={"minara_non_interactive": not is_asked})
            with override_settings(MINARA=quiet), pytest.raises(CommandError) if is_asked else nullcontext():
                call_command("demo", "remove", stdout=out)
            assert ("account demo-mei goes" in out.getvalue()) is is_asked
            assert Memory.objects.filter(is_demo=True).exists() is is_asked


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
