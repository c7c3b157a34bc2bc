"""Every act that a page offers is undone, or asks for a typed word; the screen says which before the click (U-03, U-20)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.urls import resolve, reverse

from memory_app.embeddings import selectors
from minara_site.kernel.governance.table import load_capabilities
from minara_site.kernel.jobs.table import load_jobs
from minara_site.kernel.market.changed import PRICES_CHANGED
from minara_site.web.page_acts import PageAct, load_page_acts
from tests.contracts.bodies import body_of, put
from tests.contracts.doors import forms
from tests.contracts.judges import LOGS, writes_in
from tests.contracts.permissions import OPEN, PAGES
from tests.contracts.sweep import captured
from tests.kit.rows import Rows, all_rows
from tests.kit.tables import table
from tests.kit.world import ANAS, World, fill, parameters, review_samples

ROUTES = forms()
ACTS = list(load_page_acts().values())
ELSEWHERE = {  # acts whose objects need a browser, a worker or a plan; tests of their rooms do and undo them
    *(name for name in ROUTES if name.startswith(("account_", "access:", "mfa_")) and name != "access:key_new"),
    *("users:end_sessions", "governance:close", "writes:apply", "writes:undo"),
    *("brought_in:seen", "brought_in:roll_back", "brought_in:undo", "console:demo_load"),
    "onboarding:undo",  # finished again, each memory has one version more
    "institution:cancel",  # a run that is started again is another one
    *("bundle:imports", "bundle:import_remove", "bundle:export_remove", "bundle:apply"),
}
TOASTS = {
    "held:undo",
    "quarantine:undo",
    "audit:restore",
    "inbox:reopen",
    "prices:doubt",
    "user_profile:undo",
    "tags:undo",
    "workspace:unscaffold",
}  # only a toast offers these
SIGNING_IN = {"account_login", "account_logout", "access:password"}  # tests of access and of the browser do these
BOOKKEEPING = {
    "version",
    "updated_at",
    "batch",
    "last_login",
    "embedding_state",
    "rules_version",
    "copies",  # of a folder
    "compared_at",
    "fact_key",
    "enqueued_at",
    "mark_effective_at",
    "read_at",  # of a folder
    "due_at",
    "ran_at",
}
RECORDS = LOGS | {  # what is only ever added to
    "audit_log",
    "change_sets",
    "changes",
    "documents_revisions",
    "holds",
    "memory_consolidation_events",
    "memory_deletions",
    "memory_revisions",
    "methodology_lifecycle_events",
    "revisions",
    "user_profile_revisions",
    "user_tag_events",
    "write_rollbacks",
    "django_session",
}
RENEWED = {  # made anew, with another key
    "first_steps": ("user_id", "step"),
    "invitations": ("user_id",),
    "memory_edges": ("src_table", "src_id", "edge_type", "dst_entity_kind", "dst_entity_key"),
    "user_tags": ("owner_id", "name", "value", "source", "actor", "origin"),
    "user_profile": ("owner_id", "key", "value", "actor"),
}
MARKS = (
    "closed_at",
    "doubted_at",
    "confirmed_at",
    "decided_at",
    "removed_at",
    "deleted_at",
    "ended_at",
    "retired_at",
    "held_at",
    "reviewed_at",
)  # whether, not when
NOTHING_TO_DO = {
    "bundle.export",
    "roles.start_due",
    "memories.bridge_preferences",
    "portrait.bridge_tags",
    *(name for name, job in load_jobs().items() if PRICES_CHANGED in job.topics),
}  # runs that find what they were asked for undone
ENDS = {  # how a row that an act made looks once it is undone
    "memories": lambda row: row["deleted_at"] is not None,
    "activity_accounts": lambda row: row["removed_at"] is not None,
    "owner_schedules": lambda _row: True,  # a look at what there is to read
    "api_keys": lambda row: row["revoked_at"] is not None,
    "learned_preferences": lambda row: row["state"] == "rejected",
    "own_notes": lambda row: row["text"] == "",
    "skill_versions": lambda _row: True,  # a version stays, in force or not
    "bundle_transfers": lambda row: row["state"] == "expired",
    "methodology_audit_acknowledgements": lambda row: row["ended_at"] is not None,
    "institution_runs": lambda row: row["state"] == "cancelled",
    "job_runs": lambda row: row["state"] == "cancelled" or row["job"] in NOTHING_TO_DO,
    "memory_edges": lambda _row: True,  # of a memory in the trash
    "changed_prices": lambda _row: True,  # judged by again, and found as it was
    "search_document": lambda _row: True,
    "documents": lambda row: not (row["content"] or row["held_content"]),
    "access_user": lambda row: row["password"].startswith("!"),  # nobody can sign in
    "capability_switches": lambda row: row["mode"] == "on",
    "budget_windows": lambda row: row["cap_usd"] is None,
}
TYPED = {"typed": "3x", "version": "preference_version"}
MODES = {mode: {"mode": mode, "reason": "A trial"} for mode in ("on", "off")}
PREFERENCES = {
    "display_name": f"Ana {ANAS}",
    "time_zone": "UTC",
    "theme": "system",
    "density": "standard",
    "shortcuts": "on",
}


@dataclass(frozen=True)
class Walk:
    """How an act is done and undone: by whom, with which bodies, after which other acts, about which objects."""

    body: dict[str, Any] | None = None
    undo: dict[str, Any] = field(default_factory=dict)
    caller: str = "ana"
    first: tuple[str, ...] = ()
    samples: dict[str, Any] = field(default_factory=dict)
    then: dict[str, Any] = field(default_factory=dict)  # about other objects than the act
    query: str = ""


MADE = {  # the sample that a new row of a table stands for, and its column
    "memory_id": ("memories", "id"),
    "batch": ("memories", "batch"),
    "account_id": ("activity_accounts", "id"),
    "hold_id": ("holds", "id"),
    "run_id": ("job_runs", "id"),
    "prefix": ("api_keys", "prefix"),
    "export_id": ("bundle_transfers", "id"),
    "tag_event_id": ("user_tag_events", "id"),
    "event_id": ("memory_consolidation_events", "id"),
    "preference_id": ("learned_preferences", "id"),
    "rollback_id": ("write_rollbacks", "id"),
    "change_set_id": ("change_sets", "id"),
    "user_id": ("access_user", "id"),
    "institution_uid": ("institution_runs", "uid"),
    "acknowledgement_id": ("methodology_audit_acknowledgements", "id"),
}
WALKS: dict[str, Walk] = {
    "memories:new": Walk(undo={"reason": "no"}),
    "memories:edit": Walk(then={"version": 2}, query="?version=3"),
    "memories:revert": Walk(then={"version": 2}, query="?version=3"),
    "memories:delete": Walk(),
    "memories:keep": Walk(samples={"memory_id": "noted_id"}),
    "memories:restore": Walk(samples={"memory_id": "deleted_id"}),
    "memories:bulk": Walk(),
    "memories:make_hard": Walk(body={"dimension": "risk_limit"}, samples={"memory_id": "hard_id"}),
    "held:release": Walk(caller="olga"),
    "held:let_in": Walk(),
    "held:discard": Walk(),
    "held:bulk": Walk(),
    "quarantine:verdict": Walk(caller="olga"),
    "quarantine:undo": Walk(
        caller="olga", first=("quarantine:verdict",), undo={"action": "accept", "ids": "review_items", "confirmed": "1"}
    ),
    "quarantine:claim": Walk(caller="olga", undo={"end": "1"}),
    "held:again": Walk(caller="olga", first=("held:release",), undo={"confirmed": "1"}),
    "held:undo": Walk(caller="olga", first=("held:release",), undo={"confirmed": "1"}),
    "role_memory:mark": Walk(),
    "ticks:deployment": Walk(),
    "ticks:note": Walk(),
    "ledger:note_trip": Walk(),
    "cases:note": Walk(),
    "cases:reveal": Walk(caller="sam"),
    "cases:reveal_end": Walk(caller="sam", first=("cases:reveal",), undo={"reason": "ticket 8842"}),
    "ticks:reveal": Walk(caller="sam"),
    "ticks:reveal_end": Walk(caller="sam", first=("ticks:reveal",), undo={"reason": "ticket 8842"}),
    "ledger:reveal_trip": Walk(caller="sam"),
    "ledger:reveal_trip_end": Walk(caller="sam", first=("ledger:reveal_trip",), undo={"reason": "ticket 8842"}),
    "role_memory:undo": Walk(first=("role_memory:mark",), undo={"correct": "yes"}),
    "institution:start": Walk(),
    "audit:run": Walk(caller="olga"),
    "audit:acknowledge": Walk(caller="olga"),
    "audit:reopen": Walk(caller="olga"),
    "inbox:close": Walk(caller="olga"),
    "inbox:reopen": Walk(caller="olga", first=("inbox:close",)),
    "prices:confirm": Walk(caller="olga"),
    "prices:doubt": Walk(caller="olga", first=("prices:confirm",)),
    "audit:restore": Walk(caller="olga", first=("audit:reopen",)),
    "methodologies:quarantine": Walk(caller="olga", first=("methodologies:release",)),
    "methodologies:bulk": Walk(caller="olga", first=("methodologies:release",)),
    "methodologies:release": Walk(caller="olga"),
    "methodologies:read": Walk(caller="olga", first=("methodologies:unread",)),
    "methodologies:unread": Walk(caller="olga"),
    "learnings:edit": Walk(),
    "learnings:delete": Walk(),
    "learnings:restore": Walk(first=("learnings:delete",)),
    "learnings:bulk": Walk(),
    "preferences:propose": Walk(undo={"reason": "no"}),
    "preferences:approve": Walk(),
    "preferences:reject": Walk(),
    "preferences:bulk": Walk(),
    "preferences:archive": Walk(first=("preferences:approve",)),
    "undo": Walk(),
    "preferences:activate": Walk(
        samples={"preference_id": "archived_limit_id"}, then={"preference_version": 2}, undo=TYPED
    ),
    "preferences:archive_constraint": Walk(
        samples={"preference_id": "active_limit_id"}, then={"preference_version": 2}, undo=TYPED
    ),
    "facts:decide": Walk(samples={"kind": "supersede"}),
    "facts:override": Walk(samples={"kind": "supersede"}),
    "facts:undo": Walk(
        samples={"kind": "supersede"}, first=("facts:decide",), undo={"older": "older_id", "newer": "newer_id"}
    ),
    "user_profile:add": Walk(samples={"key": "home_language"}),
    "user_profile:edit": Walk(),
    "user_profile:remove": Walk(),
    "user_profile:undo": Walk(first=("user_profile:remove",)),
    "onboarding:step": Walk(undo={"answer": "daily"}),
    "onboarding:finish": Walk(),
    "profile:draft": Walk(undo={"draft": ""}),
    "profile:prompt": Walk(),
    "profile:restore": Walk(),
    "profile:settings": Walk(undo={"setting": "include_tags", "value": "1"}),
    "profile:add_wallet": Walk(),
    "profile:label_wallet": Walk(),
    "profile:remove_wallet": Walk(),
    "profile:undo_wallets": Walk(first=("profile:add_wallet",)),
    "profile:refresh": Walk(caller="olga"),
    "activity:add": Walk(),
    "activity:remove": Walk(),
    "activity:restore": Walk(first=("activity:remove",)),
    "activity:sync": Walk(caller="olga"),
    "workspace:scaffold": Walk(),
    "workspace:unscaffold": Walk(first=("workspace:scaffold",)),
    "workspace:save": Walk(),
    "workspace:restore": Walk(),
    "workspace:additions": Walk(),
    "workspace:draft": Walk(undo={"draft": ""}),
    "tags:declare": Walk(),
    "tags:clear": Walk(),
    "tags:confirm": Walk(samples={"tag_name": "inferred_tag"}),
    "tags:undo": Walk(first=("tags:declare",), undo={"value": "aggressive"}),
    "bundle:exports": Walk(),
    "access:key_new": Walk(undo={"word": "revoke"}),
    "console:settings": Walk(undo=PREFERENCES),
    "web:theme": Walk(undo={"theme": "system"}),
    "console:first_step": Walk(),
    "console:first_steps_again": Walk(first=("console:first_step",)),
    "users:invite": Walk(caller="olga"),
    "users:new_link": Walk(caller="olga"),
    "users:withdraw_link": Walk(caller="olga", first=("users:new_link",)),
    "users:role": Walk(caller="olga", undo={"role": "user"}),
    "users:enable": Walk(caller="olga", first=("users:disable",), undo={"word": "disable"}),
    "users:disable": Walk(caller="olga"),
    "jobs:start": Walk(caller="olga"),
    "jobs:cancel": Walk(caller="olga", first=("jobs:start",)),
    "jobs:retry": Walk(caller="olga"),
    "audit_log:check": Walk(caller="olga"),
    "scan_rules:rescan": Walk(caller="olga"),
    "embeddings:backfill": Walk(caller="olga"),
    "doctor:look": Walk(caller="olga"),
    "doctor:apply": Walk(caller="olga"),
    "roles:reflect": Walk(caller="olga"),
    **{f"governance:{name}": Walk(MODES["off"], MODES["on"], caller="olga") for name in load_capabilities()},
    "budgets:raise": Walk(caller="olga"),
    "budgets:clear": Walk(caller="olga", first=("budgets:raise",), undo={"cap_usd": "50", "reason": "A backlog"}),
}


def caller_of(act: PageAct) -> str:
    """Return who may do it: the owner, else an operator."""
    return "ana" if PAGES[ROUTES[act.name]].methods["POST"]["ana"] is OPEN else "olga"


def formed(world: World, act: PageAct) -> dict[str, Any]:
    """Return the body of `contracts/bodies.py` as fields."""
    return dict(parse_qsl(body_of("POST", ROUTES[act.name], world.ana.samples) or ""))


def post(world: World, caller: str, act: PageAct, body: dict[str, Any]) -> tuple[Any, list[str]]:
    """Send a form; return the answer and the SQL that it took."""
    with captured() as statements:
        path = fill(ROUTES[act.name], world.ana.samples)
        return world.callers[caller].call("POST", path, urlencode(body, doseq=True)), statements


def follow(world: World, act: PageAct, walk: Walk, samples: dict[str, Any]) -> None:
    """Do an act; put the keys of the rows that it made in the place of the samples."""
    before = all_rows(without=LOGS)
    body = body_of("POST", ROUTES[act.name], samples)
    if walk.body:
        body = urlencode({name: put(value, samples) for name, value in walk.body.items()}, doseq=True)
    answer = world.callers[walk.caller].call("POST", fill(ROUTES[act.name], samples), body)
    assert answer.status_code in {200, 201, 204, 303}, answer.content[:2000]
    after = all_rows(without=LOGS)
    for name, (made, column) in MADE.items():
        new = after[made].keys() - before[made].keys()
        if new:
            samples[name] = after[made][max(new)][column]
    samples |= review_samples(samples["hold_id"])
    assert after != before, "it did nothing"


def stand(rows: Rows) -> Rows:
    """Return the rows with those that are made anew under what they are about, and nothing else of them."""
    renewed = {
        name: {tuple(row[column] for column in columns): {} for row in rows[name].values()}
        for name, columns in RENEWED.items()
    }
    marked = {
        name: {key: row | {mark: row[mark] is not None for mark in MARKS if mark in row} for key, row in found.items()}
        for name, found in rows.items()
    }
    return marked | renewed


def arguments(name: str, samples: dict[str, Any]) -> dict[str, Any]:
    """Return what the address of that name takes."""
    return {each: samples[each] for each in parameters(ROUTES[name])}


def toast_undo(world: World, caller: str) -> str:
    """Return the address of the Undo that the newest toast offers."""
    session = SessionStore(world.callers[caller].headers["Cookie"].rpartition("=")[2])
    told = json.loads(session.get("_messages", "[]"))
    return str(told[-1][-1]) if told and str(told[-1][-1]).startswith("/") else ""


def left_over(before: Rows, after: Rows) -> list[str]:
    """Return what is otherwise than before: rows gone, columns changed, and what the act made that has not ended."""
    faults = [f"{name} {key} is gone" for name in before for key in before[name].keys() - after[name].keys()]
    for name, rows in after.items():
        for key, row in rows.items():
            was = before[name].get(key)
            if was is None:
                is_over = ENDS.get(name, lambda _row: False)(row)
                faults += [] if is_over else [f"{name} {key} is new: {row}"]
            elif name != "job_runs" or not ENDS[name](row):
                changed = {column for column, value in row.items() if value != was[column]} - BOOKKEEPING
                faults += [f"{name} {key}: {column} {was[column]!r} -> {row[column]!r}" for column in changed]
    return faults


def test_every_form_of_a_page_is_in_the_table() -> None:
    assert {act.name for act in ACTS} == ROUTES.keys()
    assert {act.undo for act in ACTS if act.undo} <= ROUTES.keys()


def test_the_screen_says_it_before_the_click() -> None:
    text = "\n".join(path.read_text() for path in Path(settings.BASE_DIR, "templates").rglob("*.html"))
    said = set(re.findall(r"""(?:\{% undo_(?:note|text) ["']|act=["'](?=\w+:))([\w:]+)["']""", text))
    said |= {
        name
        for name in ROUTES
        if name.startswith(("governance:", "users:e", "ledger:", "ticks:")) or name.endswith(":bulk")
    }  # by name
    assert said <= ROUTES.keys()
    silent = {act.name for act in ACTS if act.undo not in {act.name, ""} and act.undo not in SIGNING_IN} - said - TOASTS
    assert silent == set()


@table("act", [act for act in ACTS if act.word], ids=lambda act: act.name)
def test_nothing_happens_without_the_word(world: World, act: PageAct) -> None:
    caller = caller_of(act)
    for body in ({}, {"word": "yes"}):
        without = {name: value for name, value in formed(world, act).items() if name != "word"}
        answer, statements = post(world, caller, act, {**without, **body})
        assert answer.status_code == 422, answer.status_code
        assert writes_in(statements) == []
    answer, statements = post(world, caller, act, {**formed(world, act), "word": act.word})
    assert answer.status_code in {201, 303}, answer.status_code
    assert writes_in(statements)


@table("act", [act for act in ACTS if act.changes_nothing], ids=lambda act: act.name)
def test_a_look_changes_nothing(world: World, act: PageAct) -> None:
    answer, statements = post(world, caller_of(act), act, formed(world, act))
    assert answer.status_code == 200
    assert [each for each in writes_in(statements) if not re.search("django_session|rate_counts", each)] == []


def test_every_act_is_walked() -> None:
    assert {act.name for act in ACTS if act.undo} - ELSEWHERE == WALKS.keys() - {"users:disable"}


@pytest.fixture
def provider(settings: Any) -> Iterator[None]:
    """Name a provider of embeddings, which nobody asks here."""
    chosen = {
        "embedding_provider": "openai",
        "embedding_base_url": "http://127.0.0.1:9",
        "embedding_api_key": "sk-none",
    }
    settings.MINARA = settings.MINARA.model_copy(update=chosen)
    selectors.ask_provider.cache_clear()
    yield
    selectors.ask_provider.cache_clear()


@pytest.mark.usefixtures("provider")
@table("name", [name for name in WALKS if load_page_acts()[name].undo])
def test_what_was_done_is_undone(world: World, name: str) -> None:
    """The rows that stood before stand again, column by column; what the act made has ended."""
    act, walk = load_page_acts()[name], WALKS[name]
    samples = world.ana.samples | {key: put(value, world.ana.samples) for key, value in walk.samples.items()}
    for earlier in walk.first:
        follow(world, load_page_acts()[earlier], WALKS[earlier], samples)
    before = stand(all_rows(without=RECORDS))
    follow(world, act, walk, samples)
    samples |= {key: put(value, world.ana.samples) for key, value in walk.then.items()}
    address = toast_undo(world, walk.caller) or reverse(act.undo, kwargs=arguments(act.undo, samples)) + walk.query
    assert resolve(address.partition("?")[0]).view_name == act.undo
    body = urlencode({name: put(value, samples) for name, value in walk.undo.items()}, doseq=True)
    answer = world.callers[walk.caller].call("POST", address, body)
    assert answer.status_code in {200, 201, 204, 303}, answer.content.decode()[-2000:]
    assert left_over(before, stand(all_rows(without=RECORDS))) == []
