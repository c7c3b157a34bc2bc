"""The engine knows no table: a kind of row that it never heard of is planned, shown, applied and undone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from memory_app.rollbacks import ROLLBACKS
from memory_app.writes.core.memories import RollBackStep, WriteKind
from memory_app.writes.core.profile import EntryStep
from memory_app.writes.models import WriteRollback
from memory_app.writes.selectors.plans import RollbackPlan
from minara_site.kernel import registry
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.changes.core import Plan
from minara_site.kernel.core.diff import word_diff
from minara_site.kernel.rollback import Effect, KindPlan, PlanRow, TableRollback, UnchangedRow
from minara_site.kernel.unchanged import UnchangedReason
from tests.kit.clock import NOON
from tests.kit.page import text_of
from tests.memory_app.writes.factories import agent, write

BAD, NOTHING = "key:bad00000", Plan(NOON)


@dataclass(frozen=True)
class Swap:
    owner_id: int
    name: str
    now: str
    then: str


class ToyRollback(TableRollback):
    """Notes in a dictionary; what each said before a roll-back is kept beside them."""

    name, label = "toy", "Toys"
    writes = {"toy_set": "toy"}
    effects = (Effect("toy", "Toy notes", "back to the note before", "back to the later note", column="Toys"),)
    audit_key, record_key = "toys", "toy"

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}
        self.before: dict[int, list[Swap]] = {}

    def plan(self, entries: Any, *, writer: str, **_: Any) -> KindPlan:
        steps, unchanged = [], []
        for entry in entries:
            name, value, former = (entry.details[each] for each in ("toy", "value", "former"))
            if self.notes[name] == value:
                steps.append(Swap(entry.owner_id, name, value, former))
            else:
                unchanged.append(
                    UnchangedRow(
                        UnchangedReason.CHANGED_SINCE,
                        name,
                        entry.owner_id,
                        by="job:night",
                    )
                )
        return KindPlan({"toy": steps}, unchanged)

    def plan_undo(self, record: Any, *, lock: bool) -> KindPlan:
        return KindPlan(
            {"toy": [Swap(each.owner_id, each.name, each.then, each.now) for each in self.before[record.pk]]}
        )

    def apply(self, record: Any, plan: KindPlan) -> dict[int, dict[str, Any]]:
        self.before[record.pk] = list(plan.steps["toy"])
        self.notes |= {step.name: step.then for step in plan.steps["toy"]}
        names = [step.name for step in plan.steps["toy"]]
        return {step.owner_id: {"toys": names, "count": len(names)} for step in plan.steps["toy"]}

    def show_steps(self, steps: Any, plan: KindPlan, *, reader: Any) -> list[PlanRow]:
        return [PlanRow(each.name, each.owner_id, changes=word_diff(each.now, each.then)) for each in steps]

    def list_changed(self, record: Any, *, limit: int) -> list[str]:
        return [step.name for step in self.before[record.pk]]

    def url(self, object_id: Any) -> str:
        return f"/toys/{object_id}/"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[ToyRollback]:
    """Register one kind more, as a list module would."""
    kind = ToyRollback()
    monkeypatch.setattr("memory_app.rollbacks.ROLLBACKS", (*ROLLBACKS, kind))
    registry.load.cache_clear()
    yield kind
    registry.load.cache_clear()


@pytest.mark.django_db
@pytest.mark.usefixtures("frozen")
def test_a_kind_that_the_engine_does_not_know_is_rolled_back_and_undone(operator_page, ana, toy):
    now = timezone.now()
    write(agent(ana, "bad00000"), "poison", now=now)
    toy.notes = {"one": "bad note", "two": "mine"}
    for name in toy.notes:
        details = {"toy": name, "value": "bad note", "former": "good note"}
        record_audit(now=now, actor=BAD, tool_call="toy_set", owner_id=ana.pk, details=details)
    writers = text_of(operator_page.get("/ops/writes/"))
    assert re.search(r'<th class="n">Toys</th>', writers)
    assert re.search(r'data-label="Toys">2<', writers)

    address = {"writer": BAD, "since": now.isoformat()}
    page = text_of(operator_page.get("/ops/writes/roll-back/", address | {"show": "toy"}))
    assert "1 back to the note before." in page
    assert re.search(r'<span class="mono">one</span><span class="diff"><del>bad</del><ins>good</ins>', page)
    page = text_of(operator_page.get("/ops/writes/roll-back/", address | {"show": "left"}))
    assert re.search(r'href="/toys/two/">two</a>.*its value was changed afterwards, by the job night', page, re.DOTALL)

    apply_url = re.search(r'href="(/ops/writes/roll-back/apply/[^"]*)"', page)[1].replace("&amp;", "&")
    plan = re.search(r"plan=(\w{64})", apply_url)[1]
    form = {"plan": plan, "reason": "stolen key", "word": BAD}
    assert operator_page.post(apply_url, form).status_code == 303
    assert toy.notes == {"one": "good note", "two": "mine"}
    record = WriteRollback.objects.get()
    assert (record.counts["toy"], record.counts["created"], record.counts["left"]) == (1, 1, 1)
    details = AuditEntry.objects.get(tool_call="write_rollback").details
    assert (details["toys"], details["keys"], details["count"]) == (["one"], [], 2)
    page = text_of(operator_page.get(f"/ops/writes/{record.pk}/"))
    assert 'href="/toys/one/"' in page
    assert re.search(r'href="/toys/two/">two</a>: its value was changed afterwards', page)

    undo_url = f"/ops/writes/{record.pk}/undo/"
    page = text_of(operator_page.get(undo_url))
    assert "back to the later note" in page
    plan = re.search(r'name="plan" value="(\w{64})"', page)[1]
    assert operator_page.post(undo_url, form | {"plan": plan}).status_code == 303
    assert toy.notes == {"one": "bad note", "two": "mine"}


def test_the_hash_covers_every_step_and_unchanged_row_of_every_kind():
    memories, profile = ROLLBACKS
    step = RollBackStep(7, WriteKind.CREATED, 1, None, text=None, is_moved=True, is_deleted=True)
    other = RollBackStep(7, WriteKind.CREATED, 2, None, text=None, is_moved=True, is_deleted=True)
    entry, unchanged = EntryStep(1, "zone", 4, 5), UnchangedRow(UnchangedReason.GONE, 9)
    parts = [
        {memories: KindPlan({"created": []})},
        {memories: KindPlan({"created": [step]})},
        {memories: KindPlan({"created": [other]})},
        {memories: KindPlan({"edited": [step]})},
        {memories: KindPlan({"created": [step]}, [unchanged])},
        {memories: KindPlan({"created": [step]}), profile: KindPlan({}, [unchanged])},
        {memories: KindPlan({"created": [step]}), profile: KindPlan({"profile": [entry]})},
    ]
    hashes = [RollbackPlan(part, ("key:me",), NOTHING).sha256 for part in parts] + [
        RollbackPlan(parts[0], ("key:you",), NOTHING).sha256
    ]
    assert len(set(hashes)) == len(hashes)
    again = {memories: KindPlan({"created": [step]}, [unchanged], rows={7: "another"})}
    assert RollbackPlan(again, ("key:me",), NOTHING).sha256 == hashes[4]
    names = (
        "methodology methodology_state deployment learning learning_guidance learning_state preference preference_state"
        " document created edited deleted restored profile unretired rebuilt_memory rebuilt_tag rebuilt_summary"
    )
    counts = RollbackPlan(parts[6], ("key:me",), NOTHING).counts
    assert counts == dict.fromkeys([*names.split(), "left"], 0) | {"created": 1, "profile": 1}
