"""Two tenants that are alike but for a canary word, and everybody else who may call: made once a process."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends.db import SessionStore
from django.db import connections
from django.test import Client
from django.utils import timezone

from learning_app.audit.models import Acknowledgement, AuditReport
from learning_app.audit.services.acknowledge import acknowledge
from learning_app.learnings.models import Learning
from learning_app.ledger.core import EngineKind, TradeAction, TradeSide
from learning_app.ledger.core.reconcile import Position
from learning_app.ledger.models import DecisionSnapshot, Trade
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.services.decide import quarantine
from learning_app.notes.services import write_note
from learning_app.preferences.services.decide import reject
from learning_app.ticks.core import Proposal, Report
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.services.deployments import deploy
from learning_app.ticks.services.record import record_tick
from memory_app.bundle.models import BundleTransfer
from memory_app.facts.models import ConsolidationEvent, FactVerdict
from memory_app.memories.core import HARD_CONSTRAINT, FactState
from memory_app.memories.models import FactConflict, Memory
from memory_app.memories.services import Changes, Draft, delete_memories, edit_memory, write_memory
from memory_app.roles.services.record import DecisionDraft, record_decision
from memory_app.search.core.surfaces import Surface
from memory_app.search.log import log_search_of
from memory_app.user_profile.services import set_entry
from memory_app.writes.models import BroughtIn, WriteRollback
from minara_site.access.keys.services import create_key, revoke_key
from minara_site.access.models import ApiKey
from minara_site.access.policy import AGENT_SCOPES, Role, Scope
from minara_site.access.principal import Principal
from minara_site.access.security.sessions import SEEN
from minara_site.console.models import Alert, AlertKind
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.conversations.services import NewTurn, ToolCall, record_turn
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.jobs.models import JobRun, WorkerSeen
from minara_site.kernel.market.models import PricePoint
from profile_app.activity.models import Account, OwnTrip, SyncState
from profile_app.activity.services.days import refresh_days
from profile_app.capital.models import CapitalReading
from profile_app.documents.core import WORKSPACE_FILE, Origin
from profile_app.documents.services import save_document
from profile_app.onboarding.core import Question
from profile_app.onboarding.services import save_answer
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.core.wallets import Wallet
from profile_app.portrait.services.profile import save_custom_prompt, set_reference_wallets
from profile_app.portrait.services.tags import set_tag
from profile_app.prompt.services import start_session
from profile_app.strategies.models import StrategyRun
from tests.contracts.bodies import QUERIES
from tests.kit.clock import NOON
from tests.kit.databases import copy_databases, drop_databases, using
from tests.kit.fixtures import make_user
from tests.kit.tables import taken_back
from tests.kit.undo import last_set
from tests.kit.visitor import Visitor
from tests.learning_app.audit.rows import make_report
from tests.learning_app.learnings.rows import make_learning
from tests.learning_app.lessons.rows import add_trades, make_deployment, make_note
from tests.learning_app.rows import make_case, make_methodology, make_preference, make_run, make_trade, post_prices
from tests.profile_app.activity.rows import make_fill

ANAS, BENS = "quokkaana", "wombatben"  # words that stand nowhere else
ANAS_WORD, BENS_WORD = "bilbyana", "numbatben"  # stand beside them, to be searched for
WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
MANY = 5  # rows of each kind: a query that is asked as often is one for each row
ROLE = "analysis.thesis.review"  # one whose outcomes people mark
READ_SCOPES = frozenset(scope for scope in Scope if scope.endswith(":read"))
WRITE_SCOPES = frozenset(scope for scope in Scope if scope.endswith(":write"))
MISSING_ID = 987_654_321
JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"


class Wire:
    """A test client that is made once, because a new one loads every middleware, and keeps no cookies."""

    def __init__(self, *, enforce_csrf_checks: bool = False) -> None:
        self.client = Visitor(enforce_csrf_checks=enforce_csrf_checks, raise_request_exception=False)

    def send(self, method: str, path: str, body: Any = None, kind: str = "", **headers: str) -> Any:
        """Send one request; without `kind` a body is JSON under the API and a form elsewhere."""
        self.client.cookies.clear()
        kind = kind or (JSON_TYPE if path.startswith("/v1/") or body is None else FORM_TYPE)
        return self.client.generic(method, path, b"" if body is None else body, kind, headers=headers)


@dataclass(frozen=True)
class Caller:
    """How a principal of the permission table knocks: with cookies, with a key, or with nothing."""

    wire: Wire
    headers: dict[str, str]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request."""
        return self.wire.send(method, path, body, **{"If-Match": '"2"', **self.headers})


@dataclass(frozen=True)
class Tenant:
    """One owner and the values that stand for their objects in paths."""

    user: Any
    canary: str
    samples: dict[str, Any]
    memory_ids: tuple[int, ...]


@dataclass(frozen=True)
class World:
    """The tenants and the twelve principals."""

    ana: Tenant
    ben: Tenant
    callers: dict[str, Caller]
    wire: Wire


def cookies_of(user: Any) -> dict[str, str]:
    """Return the headers of a signed-in browser."""
    client = Client()
    client.force_login(user)
    session = client.session
    session[SEEN] += 24 * 3600  # no visit to note while the tests run
    session.save()
    return {"Cookie": "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())}


def key_of(
    user: Any,
    scopes: frozenset[Scope],
    *,
    age_days: int = 0,
    revoked: bool = False,
) -> dict[str, str]:
    """Return the headers of a key that was made that long ago; its use is not noted while the tests run."""
    now = timezone.now()
    key = create_key(
        user=user,
        scopes=scopes,
        now=now - timedelta(days=age_days),
        actor="test",
        label="caller",
    )
    ApiKey.objects.filter(prefix=key.prefix).update(last_used_at=now + timedelta(days=1))
    if revoked:
        revoke_key(prefix=key.prefix, now=now, actor="test")
    return {"Authorization": f"Bearer {key.text}"}


def seed(user: Any, canary: str, word: str) -> Tenant:
    """Give a user some of everything that an owner can have."""
    now, me = timezone.now(), Principal(user, Role.USER)

    def remember(
        number: int,
        source: Source,
        category: Category = Category.PERSONALIZATION,
        *,
        ending: str = "",
    ) -> int:
        draft = Draft(
            category=category,
            content=f"{canary} {word} holds position {number}, common word{ending}",
            provenance=Provenance(source, me.actor),
            fact_type=f"{canary}.type",
            tickers=("BTC",),
            metadata={"note": canary},
        )
        return int(write_memory(owner_id=user.pk, draft=draft, now=now).pk)

    typed = [remember(number, Source.USER_MANUAL) for number in range(12)]
    noted = [remember(99, Source.AGENT_RECORDED, category) for category in Category]
    edit_memory(
        principal=me,
        memory_id=typed[0],
        changes=Changes(content=f"{canary} changed its mind"),
        now=now,
    )
    deleted = [remember(number, Source.USER_MANUAL) for number in range(100, 103)]
    batch = delete_memories(principal=me, owner=user, ids=deleted, now=now).id
    held = [remember(200 + number, Source.AGENT_RECORDED, ending="\u200b") for number in range(MANY)]
    facts = [remember(300 + number, Source.AGENT_RECORDED, Category.FACT) for number in range(MANY + 1)]
    Memory.objects.filter(pk__in=facts).update(fact_state=FactState.SETTLED)
    pairs, events = [], []
    for older, newer in pairwise(facts):
        pair = FactConflict.objects.create(
            owner=user,
            older_id=older,
            newer_id=newer,
            leaves_id=older,
            found_at=now,
        )
        kept = ConsolidationEvent.objects.create(
            owner=user,
            at=now,
            kind="kept_both",
            decider="model",
            actor="job:test",
            fact_id=newer,
            other_id=older,
        )
        FactVerdict.objects.create(
            owner=user,
            conflict=pair,
            at=now,
            kind="keep_both",
            reason=canary,
            model="test",
            cost_usd=0,
            event=kept,
        )
        pairs.append(pair)
        events.append(kept)
    for number in range(1, MANY):
        set_entry(owner=user, key=f"{canary}_{number}", value=f"{canary} value", actor=me.actor, now=now)
    by_key = replace(me, scopes=frozenset({Scope.MEMORY_WRITE}), key_prefix="seed0000").actor
    of_key = Draft(Category.PERSONALIZATION, f"{canary} by key", Provenance(Source.USER_MANUAL, by_key))
    stated = write_memory(owner_id=user.pk, draft=of_key, now=now)
    set_entry(owner=user, key=f"{canary}_by_key", value="a value", actor=by_key, now=now)
    entry = set_entry(
        owner=user,
        key=f"{canary}_zone",
        value=f"{canary}/Lisbon",
        actor=me.actor,
        now=now,
    ).entry
    turn = NewTurn(
        f"{canary} asked",
        f"{canary} answered",
        [ToolCall("memory_search", {"query": canary}, ok=True)],
    )
    for _number in range(MANY):
        session = start_session(owner=user, title=f"{canary} talk", actor=me.actor, now=now).session
        record_turn(owner=user, session_id=session.pk, turn=turn, actor=me.actor, now=now)
        key = create_key(user=user, scopes=[Scope.MEMORY_READ], label=canary, now=now, actor="test")
    app = TOTP.activate(user, generate_totp_secret()).instance
    places = [
        UserSession.objects.create(user=user, session_key=f"{canary}{number}", ip="192.0.2.1", user_agent=canary)
        for number in range(MANY)
    ]
    run = JobRun.objects.create(job="memories.purge_expired", state="failed", created_at=now, finished_at=now)
    look = {"names": ["edges"], "apply": False, "actor": me.actor}
    fix_run = JobRun.objects.create(
        job="doctor.fix",
        arguments=look,
        state="succeeded",
        result={},
        created_at=now,
        finished_at=now,
    )
    rollbacks = [
        WriteRollback.objects.create(
            writer=f"key:{canary}",
            since=now,
            at=now,
            actor="test",
            reason=canary,
            batch="0" * 32,
            counts={"created": 0},
        )
        for _number in range(MANY)
    ]
    for number in range(MANY):
        own = {
            "writer": f"import:{canary}{number}",
            "actor": me.actor,
            "reason": "",
            "batch": "1" * 32,
            "counts": {},
        }
        WriteRollback.objects.create(since=now, at=now, **own)
        brought_in = BroughtIn.objects.create(
            owner=user,
            run=f"{canary}{number}",
            actor="command:import",
            file=canary,
            memories=1,
            at=now,
            seen_at=now,
        )
    transfer = {"owner": user, "actor": me.actor, "format": "minara", "created_at": now, "given_name": canary}
    row = {"place": f"{canary}.md", "verdict": "new", "text": canary}
    plan = {
        "rows": [row],
        "verdicts": {"new": 1},
        "channels": {},
        "ignored": 0,
        "constraints": 0,
        "marks": "n",
    }
    tomorrow = now + timedelta(days=1)
    method = Methodology.objects.first() or quarantined_methodology(now)
    for number in range(MANY):
        export = BundleTransfer.objects.create(
            **transfer,
            direction="export",
            state="done",
            file_name="none",
            options={},
            expires_at=tomorrow,
        )
        taken = BundleTransfer.objects.create(
            **transfer,
            direction="import",
            state="shown",
            options={"approve": False},
            plan=plan,
            plan_sha256="0" * 64,
            expires_at=tomorrow,
        )
        decision, _is_new = record_decision(
            owner_id=user.pk,
            draft=DecisionDraft(ROLE, {"thesis": canary}, f"{canary} still holds, look {number}"),
            actor=me.actor,
            origin="",
            is_replay=False,
            now=now,
        )
        case = make_case(
            user,
            decision=f"{canary} rises, look {number}",
            trade_ref=f"{canary}-{number}",
            actor=me.actor,
            decided_at=now,
            hints=[method],
        )
        learning = seed_learning(user, canary, word, number, actor=me.actor)
        log_search_of(
            owner_id=user.pk,
            actor=me.actor,
            query=canary,
            ids=typed[1:3],
            now=now,
            door=Surface.PAGE,
        )
    labelled = Draft(
        Category.PERSONALIZATION,
        f"{canary} never",
        Provenance(Source.USER_MANUAL, "key:agent"),
        HARD_CONSTRAINT,
    )
    samples = {
        "memory_id": typed[0],
        "noted_id": noted[0],
        "hard_id": write_memory(owner_id=user.pk, draft=labelled, now=now).pk,
        "deleted_id": deleted[0],
        "deleted_ids": deleted,
        "of_key": {"memory_id": stated.pk, "key": f"{canary}_by_key"},
        "version": 1,
        "batch": batch,
        "session_id": session.pk,
        "key": f"{canary}_zone",
        "token": "x" * 43,
        "name": "memory_read",
        "entry_stamp": entry.updated_at.isoformat(),
        "prefix": key.prefix,
        "user_id": user.pk,
        "hold_id": Hold.objects.get(kind="memory", object_id=held[0]).pk,
        "own_hold_id": seed_documents(user, canary, actor=me.actor, key=by_key),
        "tag_name": "risk",
        "address": WALLET,
        "number": 1,
        "prompt_version": seed_profile(user, canary, actor=me.actor),
        "file_name": "MEMORY.md",
        "file_version": 1,
        "file_now": 2,
        "missing_line": Memory.objects.get(pk=typed[0]).content,
        "inferred_tag": "style",
        "tag_event_id": seed_tags(user, actor=me.actor),
        "review_kind": "hold",
        **review_samples(Hold.objects.get(kind="memory", object_id=held[0]).pk),
        "conflict_id": pairs[0].pk,
        "kind": "keep_both",
        "older_id": facts[0],
        "newer_id": facts[1],
        "event_id": events[0].pk,
        "factor_id": app.pk,
        "sign_in_id": places[0].pk,
        "step": "hidden",
        "question": "frequency",
        "run_id": run.pk,
        "fix_run_id": fix_run.pk,
        "audit_entry_id": record_audit(now=now, actor=me.actor, tool_call="probe", owner_id=user.pk).pk,
        "suffix": "csv",
        "category": "learning",
        "window": f"{now:%Y-%m}",
        "asset": "BTC",
        "role_id": ROLE,
        **seed_account(user, canary, actor=me.actor),
        "strategy_run_id": seed_internals(user, canary, actor=me.actor),
        "entry_id": decision.pk,
        "case_id": case.pk,
        "institution_uid": [
            make_run(user, said=f"{canary} would buy, look {number}", is_open=number == MANY - 1)
            for number in range(MANY)
        ][-1].uid,
        "content_hash": seed_lessons(user, canary),
        **seed_ticks(user, canary, actor=me.actor),
        "learning_id": learning.pk,
        "learning_uid": learning.uid,
        "learning_version": 2,
        "preference_id": seed_preferences(user, canary, actor=me.actor)[-1].pk,
        "archived_limit_id": make_limit(user, canary, "archived").pk,
        "active_limit_id": make_limit(user, canary, "active").pk,
        "preference_version": 1,
        "change_set_id": seed_undo(user, canary, now=now).pk,
        **seed_audit(),
        "alert_id": seed_alert(),
        "seconds": 0,
        "price_id": seed_doubted_price(),
        "uid": method.uid,
        "rollback_id": rollbacks[0].pk,
        "brought_in_id": brought_in.pk,
        "export_id": export.pk,
        "import_id": taken.pk,
    }
    return Tenant(user, canary, samples, tuple(typed))


def seed_documents(user: Any, canary: str, *, actor: str, key: str) -> int:
    """Make agent files of two versions, beside one of which a text of a key waits; return that one."""
    for name in ("USER.md", "MEMORY.md"):
        file = {"owner": user, "kind": WORKSPACE_FILE, "name": name, "now": timezone.now()}
        for number in (1, 2):
            save_document(**file, content=f"{canary} wrote line {number}", origin=Origin.PAGE, actor=actor)
    waits = save_document(
        **{**file, "name": "USER.md"},
        content=f"{canary} waits\u200b",
        origin=Origin.KEY,
        actor=key,
    )
    return int(Hold.objects.get(kind=WORKSPACE_FILE, object_id=waits.document.pk).pk)


def seed_profile(user: Any, canary: str, *, actor: str) -> int:
    """Give the profile a custom prompt of several versions, and wallets; return the version in force."""
    now = timezone.now()
    for number in range(MANY):
        text = f"{canary} wants numbers first, look {number}"
        save_custom_prompt(owner=user, content=text, origin=Origin.PAGE, actor=actor, now=now)
    wallets = [Wallet(WALLET, f"{canary} fund"), Wallet("So11111111111111111111111111111111111111112", canary)]
    set_reference_wallets(owner=user, wallets=wallets, actor=actor, now=now)
    seed_onboarding(user, canary)
    return MANY


def seed_onboarding(user: Any, canary: str) -> None:
    """Begin the onboarding and do not finish it."""
    for question, answer in {Question.FREQUENCY: "daily", Question.CAPITAL: f"{canary} coins"}.items():
        save_answer(owner=user, question=question, answer=answer, now=timezone.now())


def seed_tags(user: Any, *, actor: str) -> int:
    """Make tags that are declared and inferred; return the event of the one that the samples name."""
    said = {"owner": user, "now": timezone.now()}
    for name, value in (("style", "technical"), ("FOMO Index", "Low")):
        set_tag(**said, name=name, value=value, source=TagSource.INFERRED, actor="job:test")
    set_tag(**said, name="frequency", value="weekly", source=TagSource.USER, actor=actor)
    return set_tag(**said, name="risk", value="conservative", source=TagSource.USER, actor=actor).event_id


def seed_learning(user: Any, canary: str, word: str, number: int, *, actor: str) -> Learning:
    """Make a trade, and a learning whose guidance its owner has edited once."""
    make_trade(user, entry_reason=f"{canary} turns {number}", actor=actor, hours=number)
    return make_learning(
        user,
        name=f"{canary}_{number}",
        trigger=f"{canary} {word} procedure {number}",
        guidance=canary,
        actor=actor,
        edited_by=actor,
        version=2,
    )


def seed_lessons(user: Any, canary: str) -> str:
    """Make an agent with closed trades and revisions of its lessons; return the hash of the active ones."""
    deployment, now = make_deployment(user, name=canary), timezone.now()
    for number in reversed(range(MANY)):
        state, at = "superseded" if number else "active", now - timedelta(days=number + 1)
        note = make_note(deployment, f"### Sizing\n- {canary} of {number}.", status=state, generated_at=at)
        add_trades(deployment, number, lessons=note.content_hash, closed_at=now)
    return str(note.content_hash)


def seed_ticks(user: Any, canary: str, *, actor: str) -> dict[str, Any]:
    """Make trading agents, the newest with ticks, an open trade and closed ones; return it and its last tick."""
    now, config = (
        timezone.now(),
        SkillConfig(strategy=f"{canary} buys highs.", avoid=(f"{canary} never averages down.",)),
    )
    for number in range(MANY):
        said = {"name": f"{canary} {number}", "skill_name": canary, "config": config}
        deployment, _is_new = deploy(owner_id=user.pk, actor=actor, now=now - timedelta(hours=MANY - number), **said)
    for number in range(2 * MANY + 1):
        positions = {"BTC": Position(TradeSide.LONG, Decimal(1), Decimal(100), Decimal(100))} if number % 2 == 0 else {}
        proposal = Proposal(TradeAction.OPEN, "BTC", reason=f"{canary} holds a breakout {number}")
        report = Report(
            at=now - timedelta(hours=2 * MANY + 2 - number),
            equity_usd=Decimal(10_000),
            positions=positions,
            costs=dict.fromkeys(positions, Decimal(100)),
            engine=EngineKind.EXECUTED,
            proposal=proposal,
        )
        record_tick(deployment=deployment, report=report, actor=actor, now=now)
    beside = Trade.objects.filter(owner=user).latest("pk").uid
    write_note(owner_id=user.pk, kind="trade", key=beside, text=f"{canary} too early", actor=actor, now=now)
    last = DecisionSnapshot.objects.filter(deployment=deployment).order_by("tick_at").last()
    return {"deployment_id": deployment.uid, "snapshot_id": last.pk if last else 0}


def seed_account(user: Any, canary: str, *, actor: str) -> dict[str, Any]:
    """Make own accounts with fills, a round trip and a state each; return the newest ones, and its ledger."""
    for number in range(MANY):
        account = Account.objects.create(
            owner=user,
            source="perps",
            address=f"{WALLET[:-2]}{number}{len(canary)}",
            wallet=f"{WALLET[:-2]}{number}{len(canary)}".lower(),
            label=canary,
            actor=actor,
            created_at=timezone.now(),
        )
        account.stale_from_ms = make_fill(account, number=number).ts_ms
        account.save()
        SyncState.objects.create(
            owner=user, source="perps_fills", sub_account_id=account.wallet, last_synced_at=timezone.now()
        )
    refresh_days(user.pk, "UTC")
    return {
        "account_id": account.pk,
        "trade_uid": Trade.objects.filter(owner=user).latest("pk").uid,
        "trip_id": OwnTrip.objects.filter(owner=user).latest("pk").pk,
        "trade_source": "accounts",
        "ledger_key": account.pk,
    }


def seed_internals(user: Any, canary: str, *, actor: str) -> int:
    """Make what only operators read: capital and strategy runs; return the newest run."""
    now = timezone.now()
    for number in range(MANY):
        CapitalReading.objects.create(owner=user, at=now, capital_total_usd=1234 + number, tier="tier_5")
        run = StrategyRun.objects.create(
            owner=user,
            strategy_id=f"{canary}-{number}",
            symbols=["BTC"],
            allocated_capital_usd=1,
            started_at=now,
            actor=actor,
        )
    return int(run.pk)


def seed_preferences(user: Any, canary: str, *, actor: str) -> list[Any]:
    """Make proposals that wait for their owner."""
    at = {"created_at": timezone.now(), "actor": actor}
    return [make_preference(user, f"{canary} prefers venue {number}", **at) for number in range(MANY)]


def seed_undo(user: Any, canary: str, *, now: Any) -> Any:
    """Make an act of the owner that can be undone; return its set."""
    row = make_preference(user, f"{canary} rejected wish", created_at=now)
    reject(preference_id=row.pk, owner=user, actor=f"user:{user.pk}", now=now)
    return last_set("preference", row)


def make_limit(user: Any, canary: str, state: str) -> Any:
    """Make a hard constraint on which its owner has decided."""
    at = {"created_at": timezone.now(), "actor": f"user:{user.pk}"}
    return make_preference(user, f"{canary} never above 3x", kind="hard_constraint", state=state, **at)


def quarantined_methodology(now: Any) -> Methodology:
    """Make one at the bar in quarantine, where the judge holds it: an operator may release it, or quarantine it."""
    graduated = make_methodology(correct=19, used=24, quarantine=0)
    row = quarantine(uid=graduated.uid, reason="Three losses", actor="test", now=now)
    Methodology.objects.filter(pk=row.pk).update(quarantined_by="judge")
    return row


def seed_audit() -> dict[str, Any]:
    """Make reports of the learning audit, once, one finding of which is acknowledged; return what names them."""
    if not AuditReport.objects.exists():
        for number in range(MANY):
            found = [{"code": code, "rows": []} for code in ("cases_overdue", "cron_behind")]
            make_report(created_at=timezone.now() - timedelta(days=MANY - number), findings=found)
        acknowledge(codes=["cases_overdue"], note="Known", actor="test", now=timezone.now())
    report, given = AuditReport.objects.latest("pk"), Acknowledgement.objects.latest("pk")
    return {"report_id": report.pk, "code": "cases_overdue", "acknowledgement_id": given.pk}


def seed_alert() -> int:
    """Make the open alert of a fallen band, once; return its id."""
    facts = {"before": "healthy", "band": "watch", "report": AuditReport.objects.latest("pk").pk}
    alert, _is_new = Alert.objects.get_or_create(
        cause="band",
        closed_at=None,
        defaults={"kind": AlertKind.BAND, "facts": facts, "opened_at": timezone.now()},
    )
    return int(alert.pk)


def seed_doubted_price() -> int:
    """Make the instance's point that is in doubt, once; return its id."""
    price = {"price": "6400000", "source": "posted", "recorded_at": NOON, "doubted_at": NOON}
    return int(PricePoint.objects.get_or_create(owner=None, symbol="SOL", at=NOON, defaults=price)[0].pk)


def build_world() -> World:
    """Make everybody."""
    people = {
        "ana": make_user("ana", display_name=f"Ana {ANAS}"),
        "ben": make_user("ben", display_name=f"Ben {BENS}"),
        "sam": make_user("sam", group="support"),
        "olga": make_user("olga", group="operators", second_factor_due_at=timezone.now() + timedelta(days=1)),
        "disabled": make_user("dora"),
    }
    post_prices("BTC", (NOON, "64000"))
    ana, ben = seed(people["ana"], ANAS, ANAS_WORD), seed(people["ben"], BENS, BENS_WORD)
    headers: dict[str, dict[str, str]] = {
        "anonymous": {},
        **{name: cookies_of(user) for name, user in people.items()},
        "key_read": key_of(ana.user, READ_SCOPES),
        "key_write": key_of(ana.user, WRITE_SCOPES),
        "key_agent": key_of(ana.user, AGENT_SCOPES),
        "key_operator": key_of(people["olga"], frozenset(Scope)),
        "key_revoked": key_of(ana.user, AGENT_SCOPES, revoked=True),
        "key_expired": key_of(ana.user, AGENT_SCOPES, age_days=90),
    }
    WorkerSeen.objects.create(name="worker", seen_at=timezone.now() + timedelta(days=1))
    people["disabled"].is_active = False
    people["disabled"].save()
    wire = Wire()
    return World(ana, ben, {name: Caller(wire, sent) for name, sent in headers.items()}, wire)


PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\{(?:\w+:)?(\w+)\}")


def review_samples(hold_id: int) -> dict[str, Any]:
    """Return what stands for a hold in the addresses of the review queue."""
    return {"review_key": hold_id, "review_items": f"hold-{hold_id}"}


def fill(route: str, samples: dict[str, Any]) -> str:
    """Return the address of a route. Fails for a parameter that no sample stands for."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        assert name in samples, f"add a sample for <{name}> of {route} to tests/kit/world.py"
        return str(samples[name])

    return "/" + PARAMETER.sub(value, route).lstrip("/") + QUERIES.get(route, "")


def parameters(route: str) -> list[str]:
    """Return the names of a route's parameters."""
    return [match[1] or match[2] for match in PARAMETER.finditer(route)]


@pytest.fixture(scope="session")
def stored_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[World, dict[str, str]]]:
    """Build the world once a process, in databases of its own."""
    with django_db_blocker.unblock():
        names = copy_databases("world")
        with using(names):
            world = build_world()
    yield world, names
    with django_db_blocker.unblock():
        drop_databases(names)


@pytest.fixture
def world(stored_world: tuple[World, dict[str, str]], django_db_blocker: Any) -> Iterator[World]:
    """Go to the world; what this test writes there is rolled back. Not for tests that use the database otherwise."""
    made, names = stored_world
    with django_db_blocker.unblock(), using(names), ExitStack() as stack:
        for alias in connections:
            stack.enter_context(taken_back(alias))
        for caller in made.callers.values():
            sign_in_freshly(caller)
        yield made


def sign_in_freshly(caller: Caller) -> None:
    """Let a browser's sign-in be of now: the world may stand longer than the ten minutes that some acts ask for."""
    if "Cookie" in caller.headers:
        session = SessionStore(caller.headers["Cookie"].rpartition("=")[2])
        session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "password", "at": timezone.now().timestamp()}]
        session.save()
