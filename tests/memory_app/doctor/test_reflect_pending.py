"""The one fix that asks a model: only by name, its cost told before, first reflections only (S1, R-20, R-21)."""

from datetime import timedelta

import pytest

from memory_app.doctor.fixes.names import FixName
from memory_app.doctor.report import load_report
from memory_app.doctor.selectors import fixes
from memory_app.doctor.services import apply_fixes, choose_fixes, dry_run_fixes
from memory_app.roles.core import Classification
from memory_app.roles.models import RoleMemory
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.doctor.core import HealthState
from minara_site.kernel.llm.models import LlmUsage
from tests.kit.clock import NOON
from tests.kit.rows import all_rows, difference
from tests.memory_app.doctor.test_command import run
from tests.memory_app.roles.reflecting import LESSON, answer_as, installed, make_call, open_market
from tests.memory_app.roles.rows import make_row, make_thesis, make_wrong

pytestmark = pytest.mark.django_db
NAME = FixName.REFLECT_PENDING


@pytest.fixture
def due(ana, ben, models):
    """Two wrong calls and a right one that are due now, one that is too young, and one that was reflected before."""
    from django.utils import timezone

    now = timezone.now()
    hours = {"hours": (NOON - now).total_seconds() / 3600 + 48}
    with installed():
        open_market(until=now)
        yield [make_call(ana, **hours), make_call(ben, **hours), make_call(ana, asset="ETH", **hours)]


def lessons():
    return list(RoleMemory.objects.exclude(lesson="").values_list("lesson", flat=True))


def test_the_default_set_never_calls_a_model(due, models):
    assert NAME not in choose_fixes([])
    assert not fixes()[NAME].is_default
    apply_fixes(choose_fixes([]), actor="test", now=NOON)
    assert (models.asked, LlmUsage.objects.count(), lessons()) == ([], 0, [])


def test_a_dry_run_tells_how_many_and_what_it_costs_and_changes_nothing(due, models):
    before = all_rows()
    foreseen = dry_run_fixes([NAME])[NAME]
    assert foreseen.counts == {"due": 3, "roles": 1}
    assert 4 <= len(foreseen.cost_usd) <= len("0.000000")
    assert float(foreseen.cost_usd) > 0
    code, printed = run("--fix", "--only", "reflect_pending")
    assert (code, f"asking the model: USD {foreseen.cost_usd}" in printed) == (0, True)
    assert all_rows() == before
    assert models.asked == []


@pytest.mark.database
def test_applying_reflects_every_role_leaves_its_line_and_rewrites_nothing(ana, due, models):
    models.answer = answer_as(Classification.LOGIC_ERROR)
    settled = make_wrong(ana, role_id="desk.call", lesson="The old lesson.")
    settled.refresh_from_db()
    before = all_rows()
    done = apply_fixes([NAME], actor="command:doctor", now=NOON)[NAME]
    assert (done["lesson"], done["right"]) == (2, 1)
    assert sorted(lessons()) == sorted([LESSON, LESSON, "The old lesson."])
    [line] = AuditEntry.objects.filter(tool_call="doctor.fix.reflect_pending")
    assert line.actor == "command:doctor"
    gone, _new, _changed = difference(before, all_rows())
    assert gone - {"kernel_lease", "leases"} == set()
    assert all_rows()["role_memory"][settled.pk] == before["role_memory"][settled.pk]
    asked = len(models.asked)
    assert sum(apply_fixes([NAME], actor="command:doctor", now=NOON)[NAME].values()) == 0
    assert len(models.asked) == asked
    assert AuditEntry.objects.filter(tool_call="doctor.fix.reflect_pending").count() == 2


@pytest.mark.database
def test_the_report_counts_and_warns_of_what_could_have_been_judged_long_ago(ana):
    late = NOON - timedelta(hours=73)
    make_row(ana, hours=200, created_at=late)
    make_row(ana, hours=200, created_at=NOON)  # recorded late: nobody could have judged it
    make_thesis(ana, hours=2_000)
    make_wrong(ana)
    make_wrong(ana, lesson_held_at=NOON)
    RoleMemory.objects.update(rules_version="")
    [section] = [each for each in load_report(now=NOON).sections if each.name == "role_memory"]
    lines = {line.name.removeprefix("role_memory_"): line for line in section.lines}
    counts = {name: lines[name].count for name in ("pending", "pending_72h", "late", "outcomes_waited_for")}
    assert counts == {"pending": 3, "pending_72h": 2, "late": 1, "outcomes_waited_for": 1}
    assert (lines["reflected"].count, lines["lessons"].count, lines["held"].count) == (2, 1, 1)
    assert lines["late"].state is HealthState.WATCH
    assert "reflect_pending" in str(lines["late"].hint)
    assert lines["judged_by_other_rules"].count == 5
