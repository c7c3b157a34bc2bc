"""A pass: what it stores, that it changes nothing else, and how it gives way, drops and dies (R-15)."""

from datetime import timedelta

import pytest
from django.db import connection

from learning_app.audit.core.records import Dimension, DimensionScore
from learning_app.audit.models import AuditReport
from learning_app.audit.selectors import hash_tables
from learning_app.audit.services import run
from learning_app.audit.services.run import AUDIT_JOB, Yielding, run_pass
from learning_app.cases.models import TradingCase
from learning_app.cases.services.cron import AlreadyRunning
from learning_app.cases.services.verdicts import UNCOUNTED
from learning_app.court.models import Block
from learning_app.court.services.evidence import MARK_LOST, count_blocks
from learning_app.methodologies.models import Methodology, Tally
from minara_site.access.models import User
from minara_site.kernel.db import WriteRefused
from minara_site.kernel.errors import Invalid
from minara_site.kernel.jobs.busy import clear_busy, mark_busy
from minara_site.kernel.jobs.leases import acquire_lease
from tests.kit.clock import NOON
from tests.kit.tables import table
from tests.learning_app.audit.rows import make_closed, make_event, make_heartbeat, make_ladder_outcomes, make_loop
from tests.learning_app.rows import make_case, make_methodology

pytestmark = pytest.mark.django_db


def audit(**options):
    return run_pass(**({"now": NOON, "requested_by": "test"} | options))


@pytest.mark.database
def test_a_pass_stores_one_report_worked_by_hand(ana):
    row = make_loop(ana)
    report = audit()
    scores = report.scores
    assert scores["synthesis_quality"] == 0, "its one later verdict changed side within a week"
    assert report.dimensions["graduation_fp_rate"]["facts"] == {"reversed": 1, "counted": 1, "young": 1}
    assert scores["attribution_integrity"] == pytest.approx(100 * (0.7 / 2 + 0.3 * 2 / 3), abs=1e-9)
    assert scores["coverage_health"] == pytest.approx(100 / 15 / 3, abs=1e-9)
    assert scores["quarantine_churn"] == 100, "two changes in the window"
    assert scores["cron_health"] == pytest.approx(100 - 0.3, abs=1e-9)
    assert AuditReport.objects.get() == report
    assert (report.window_days, report.is_demo, report.table_hashes) == (30, False, None)
    assert sum(report.dimension_weights_used.values()) == pytest.approx(1, abs=1e-9)
    [oscillation] = report.dimensions["synthesis_quality"]["findings"]
    assert oscillation["rows"] == [f"methodology:{row.uid}"]
    assert oscillation["text"] == "1 of 1 later verdicts changed side within 7 days"
    assert len(report.dimensions["synthesis_quality"]["advisory_actions"]) == 1


def findings(**options):
    return {
        each["code"]: (each["text"], each["severity"], [row.partition(":")[2] for row in each["rows"]])
        for dimension in audit(**options).dimensions.values()
        for each in dimension["findings"]
    }


@pytest.mark.database
def test_a_pass_names_contradicted_flags_the_outcomes_of_one_owner_and_of_the_ladder_and_missing_prices(ana, ben):
    row = make_methodology()
    for hours, reason, details in (
        (9, "recovery: it holds", {}),
        (8, "flag: it fails", {UNCOUNTED: 1}),
        (7, "", {MARK_LOST: "beats_chance"}),
    ):
        make_event(row, "reflection_adjusted", hours=hours, reason=reason, details=details)
    fallen = make_methodology(correct=8, used=40, quarantine=0)
    Tally.objects.create(methodology=fallen, hand=ana.pk, used=25, right=0)
    Tally.objects.create(methodology=fallen, hand=ben.pk, used=15, right=8)
    laddered = make_methodology(correct=24, used=30, quarantine=0)
    make_ladder_outcomes(ana, laddered, right=15)
    cases = [make_closed(ana, "expired"), make_closed(ana, "inconclusive", gap="late_entry")]
    make_closed(ana, "inconclusive")
    found = findings()
    assert found["flags_contradicted"] == (
        "Flags of the model on methodologies that were right in most of their new cases: 1",
        "low",
        [row.uid],
    )
    assert found["outcomes_of_one_owner"] == (
        "Methodologies that only one owner's outcomes would take from the others: 1",
        "medium",
        [fallen.uid],
    )
    assert found["graduated_by_ladder"] == (
        "Methodologies in prompts by outcomes of institution runs, not by cases alone: 1",
        "medium",
        [laddered.uid],
    )
    assert found["cases_without_price"] == (
        "2 of 3 calls never got a price",
        "medium",
        [str(case.pk) for case in cases],
    )
    assert not found.keys() & {"verdicts_unreadable", "verdicts_oscillate"}
    assert AuditReport.objects.get().scores["synthesis_quality"] == 100


@table(
    "counts,shares,fields,is_found",
    [
        ((8, 40), [(25, 0), (15, 8)], {}, True),
        ((8, 40), [(40, 8)], {}, True),  # of one owner alone
        ((8, 40), [(20, 4), (20, 4)], {}, False),  # without each of them too: the rule demotes it
        ((8, 40), [], {}, False),  # the instance's own
        ((30, 40), [(25, 15), (15, 15)], {}, False),
        ((8, 40), [(25, 0), (15, 8)], {"quarantine": 1}, False),
        ((8, 40), [(25, 0), (15, 8)], {"held_at": NOON}, False),
    ],
)
def test_one_owner_stands_against_the_others_below_the_demotion_bar_alone(ana, ben, counts, shares, fields, is_found):
    row = make_methodology(correct=counts[0], used=counts[1], **{"quarantine": 0, **fields})
    for owner, (used, right) in zip((ana, ben), shares, strict=False):
        Tally.objects.create(methodology=row, hand=owner.pk, used=used, right=right)
    assert ("outcomes_of_one_owner" in findings()) == is_found
    User.objects.exclude(pk=ana.pk).update(is_active=False)
    assert "outcomes_of_one_owner" not in findings(), "with one user the rule needs one hand"


@table(
    "counts,ladder,fields,is_found",
    [
        ((24, 30), (15, 0), {}, True),  # 9 of 15 by cases
        ((24, 30), (21, 0), {}, True),  # 3 of 9: too few
        ((24, 30), (4, 0), {}, False),  # 20 of 26
        ((24, 30), (0, 6), {}, False),  # 24 of 24
        ((24, 30), (0, 0), {}, False),
        ((20, 30), (15, 0), {}, False),  # not at the bar as it is: no prompt carries it
        ((24, 30), (15, 0), {"quarantine": 1}, False),
        ((24, 30), (15, 0), {"held_at": NOON}, False),
    ],
)
def test_the_ladder_is_named_where_cases_alone_are_not_at_the_bar(ana, counts, ladder, fields, is_found):
    row = make_methodology(correct=counts[0], used=counts[1], **{"quarantine": 0, **fields})
    make_ladder_outcomes(ana, row, right=ladder[0], wrong=ladder[1])
    assert ("graduated_by_ladder" in findings()) == is_found


@table("right,is_found", [(17, False), (18, True)])
def test_the_light_opens_a_finding_from_evidence_of_twenty_on(right, is_found):
    row = make_methodology(correct=18, used=20, quarantine=0)
    blocks = [
        Block(
            methodology=row,
            is_own=False,
            hand=0,
            case_id=number,
            starts_at=NOON + timedelta(days=number),
            ends_at=NOON + timedelta(days=number + 1),
            decided_at=NOON,
            recorded_at=NOON,
            is_replayed=False,
            score=number < right,
            chance=0.5,
            known_at=NOON + timedelta(days=number + 1),
        )
        for number in range(60)
    ]
    for some, is_first in ((blocks[:right], True), (blocks[right:], False)):
        Block.objects.bulk_create(some)
        count_blocks([row.pk], actor="test", now=NOON)
        assert not (is_first and "skill_decayed" in findings())
    row.refresh_from_db()
    assert row.beats_chance == is_found
    assert ("skill_decayed" in findings()) == is_found


def test_an_instance_without_rows_has_neither_composite_nor_band():
    report = audit()
    assert (report.composite, report.band, report.dimension_weights_used) == (None, "", {})
    assert set(report.scores.values()) == {None}


def test_the_band_is_disabled_while_learning_is_off(settings):
    make_heartbeat()
    settings.MINARA = settings.MINARA.model_copy(update={"minara_learning_enabled": False})
    assert audit().band == "disabled"


@pytest.mark.database
def test_rows_out_of_the_window_or_of_the_future_count_nowhere(ana):
    row = make_methodology(correct=18, used=20, quarantine=0)
    for hours in (-1, 30 * 24 + 1):
        make_event(row, "demoted", hours=hours)
        make_event(row, "reflection_adjusted", hours=hours, reason="flag: no")
        make_closed(ana, hours=hours + 24)
    make_event(row, "graduated", hours=60 * 24 + 1)
    make_event(None, "market_stress_freeze", hours=-1)
    make_case(ana, hours=-2)
    make_heartbeat(hours=-5)
    assert {name: score for name, score in audit().scores.items() if score is not None} == {
        "coverage_health": pytest.approx(100 / 15 / 3)
    }


@pytest.mark.database
def test_fifty_passes_leave_every_learning_table_as_it_was(ana):
    make_loop(ana)
    before = hash_tables()
    for number in range(50):
        audit(now=NOON + timedelta(hours=number), with_hashes=number == 49)
    assert hash_tables() == before
    assert AuditReport.objects.count() == 50
    hashes = AuditReport.objects.order_by("-pk").first().table_hashes
    assert hashes == {table: {"before": value, "after": value} for table, value in before.items()}


@pytest.mark.database
def test_a_hash_sees_a_touched_column(ana):
    row = make_loop(ana)
    before = hash_tables()
    Methodology.objects.filter(pk=row.pk).update(updated_at=NOON + timedelta(hours=1))
    after = hash_tables()
    assert [table for table in before if before[table] != after[table]] == ["methodologies"]


@pytest.mark.database
def test_a_scorer_that_writes_is_refused_by_the_database_and_no_report_is_left(ana, monkeypatch):
    row = make_loop(ana)

    def write(window):
        Methodology.objects.filter(pk=row.pk).update(quarantine=0)
        return DimensionScore(100)

    monkeypatch.setattr(run, "STAGES", {**run.STAGES, Dimension.CRON_HEALTH: write})
    with pytest.raises(WriteRefused):
        audit()
    assert not AuditReport.objects.exists()
    row.refresh_from_db()
    connection.cursor().execute("UPDATE methodologies SET times_seen = times_seen + 1")


def test_a_pass_beside_another_is_dropped_and_leaves_no_report():
    acquire_lease(AUDIT_JOB, holder="somebody", seconds=60, now=NOON)
    with pytest.raises(AlreadyRunning):
        audit()
    assert not AuditReport.objects.exists()


@pytest.mark.parametrize("days", [0, -1, 366])
def test_a_window_that_cannot_be_is_refused(days):
    with pytest.raises(Invalid):
        audit(window_days=days)
    assert not AuditReport.objects.exists()


def test_it_gives_way_to_agents_between_stages_for_at_most_thirty_seconds():
    waited = []

    def wait(seconds):
        waited.append(seconds)
        if len(waited) == 3:
            clear_busy("agent", now=NOON)

    mark_busy("agent", activity="turn", seconds=600, now=NOON)
    audit(yielding=Yielding(wait=wait, clock=lambda: NOON))
    assert len(waited) == 3
    mark_busy("agent", activity="turn", seconds=600, now=NOON)
    audit(yielding=Yielding(wait=waited.append, clock=lambda: NOON))
    assert sum(waited[3:]) == 30
    assert AuditReport.objects.count() == 2


def test_a_finding_keeps_its_first_day_until_it_goes(ana):
    make_case(ana, hours=20 * 24)
    first = audit()
    again = audit(now=NOON + timedelta(days=1))

    def since(report):
        findings = report.dimensions["attribution_integrity"]["findings"]
        return [each["first_seen_at"] for each in findings if each["code"] == "cases_overdue"]

    assert since(first) == since(again) == [NOON.isoformat()]
    TradingCase.objects.all().delete()
    assert since(audit(now=NOON + timedelta(days=2))) == []
    make_case(ana, hours=20 * 24)
    assert since(audit(now=NOON + timedelta(days=3))) == [(NOON + timedelta(days=3)).isoformat()]
