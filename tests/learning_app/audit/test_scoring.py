"""The six scorers: each worked by hand, and on both sides of each of its boundaries."""

from datetime import timedelta

import pytest

from learning_app.audit.core.records import (
    CaseCounts,
    CaseRecord,
    EventRecord,
    FindingCode,
    HeartbeatRecord,
    MethodologyRecord,
    Severity,
    severity_of,
)
from learning_app.audit.core.scoring import (
    count_cases,
    score_attribution_integrity,
    score_coverage_health,
    score_cron_health,
    score_graduation_fp_rate,
    score_quarantine_churn,
    score_synthesis_quality,
)
from minara_site.kernel.core.assets import AssetClass
from tests.kit.clock import NOON
from tests.kit.tables import table

TICK = timedelta(microseconds=1)


def days(number):
    return timedelta(days=number)


def hours(number):
    return timedelta(hours=number)


def event(kind, ago, uid="a", reason="", number=1):
    return EventRecord(number, uid, kind, NOON - ago, reason)


def verdicts(*said):
    """Return verdicts of one methodology, given as (side, days before noon)."""
    return [event("reflection_adjusted", days(ago), reason=f"{side}: because") for side, ago in said]


def codes(score):
    return {finding.code: finding.count for finding in score.findings}


def methods(*counts, uses=10, **fields):
    """Return so many graduated methodologies of each group, in the order of the groups."""
    classes = ("major_crypto", "stock", "index", "commodity", "forex")
    return [
        MethodologyRecord(
            f"{asset_class}{number}",
            AssetClass(asset_class),
            uses,
            True,
            **fields,
        )
        for asset_class, count in zip(classes, counts, strict=False)
        for number in range(count)
    ]


class TestSynthesisQuality:
    def test_counts_changes_of_side_within_seven_days_of_later_verdicts(self):
        # a: flag, recovery after 1 day (change), recovery, flag after 8 days (no change); b: one verdict, not counted
        found = score_synthesis_quality(
            [
                *verdicts(("flag", 20), ("recovery", 19), ("recovery", 18), ("flag", 10)),
                event("reflection_adjusted", days(5), uid="b", reason="flag: once"),
            ]
        )
        assert found.score == pytest.approx(100 * (1 - 1 / 3), abs=1e-12)
        assert codes(found) == {FindingCode.VERDICTS_OSCILLATE: 1}
        assert (found.findings[0].rows, found.findings[0].severity) == (("methodology:a",), Severity.MEDIUM)

    @table(
        "said,score",
        [
            ([], None),
            ([("flag", 3)], 100),
            ([("flag", 9), ("flag", 8), ("flag", 7)], 100),
            ([("flag", 9), ("recovery", 2)], 0),
            ([("recovery", 9), ("flag", 8), ("recovery", 7)], 0),
        ],
    )
    def test_scores_no_verdict_one_verdict_one_way_and_back_and_forth(self, said, score):
        assert score_synthesis_quality(verdicts(*said)).score == score

    def test_seven_days_are_within_and_a_tick_more_is_not(self):
        first = event("reflection_adjusted", days(7), reason="flag: x")
        assert score_synthesis_quality([first, event("reflection_adjusted", days(0), reason="recovery: x")]).score == 0
        late = EventRecord(2, "a", "reflection_adjusted", NOON + TICK, "recovery: x")
        assert score_synthesis_quality([first, late]).score == 100

    def test_freezes_and_demotions_are_found_without_a_score_and_unreadable_verdicts_left_out(self):
        found = score_synthesis_quality(
            [
                EventRecord(1, None, "market_stress_freeze", NOON, ""),
                event("synthesis_auto_demote", days(1)),
                event("reflection_adjusted", days(1), reason="maybe: who knows"),
            ]
        )
        assert found.score is None
        assert codes(found) == {
            FindingCode.VERDICTS_UNREADABLE: 1,
            FindingCode.MARKET_STRESS_FREEZE: 1,
            FindingCode.SYNTHESIS_AUTO_DEMOTE: 1,
        }

    def test_flags_that_prices_contradict_are_named_and_are_no_verdicts(self):
        first, contradicted, last = verdicts(("recovery", 3), ("flag", 2), ("recovery", 1))
        contradicted = contradicted._replace(is_uncounted=True)
        found = score_synthesis_quality([first, contradicted, contradicted, last])
        assert (found.score, codes(found)) == (100, {FindingCode.FLAGS_CONTRADICTED: 2})
        assert (found.findings[0].rows, found.findings[0].severity) == (("methodology:a",), Severity.LOW)
        assert dict(found.facts) == {"changes": 0, "later": 1, "methods": 1}
        assert score_synthesis_quality([contradicted]).score is None


class TestGraduationFpRate:
    def test_is_wilsons_lower_bound_of_the_share_reversed(self):
        # 4 graduations: a reversed after 10 days, b after 31 (too late), c held 40 days, d is 5 days old and left out
        graduated = [event("graduated", days(ago), uid) for uid, ago in (("b", 50), ("a", 45), ("c", 40), ("d", 5))]
        reversed_ = [event("demoted", days(35), "a"), event("requantized_by_judge", days(19), "b")]
        found = score_graduation_fp_rate(graduated, reversed_, [], now=NOON)
        # lower bound of 1 of 3 at z = 1.96: (1/3 + z²/6 − z·sqrt(2/27 + z²/36)) / (1 + z²/3)
        z = 1.96
        low = (1 / 3 + z * z / 6 - z * (2 / 27 + z * z / 36) ** 0.5) / (1 + z * z / 3)
        assert found.score == pytest.approx(100 * (1 - low), abs=1e-9)
        assert dict(found.facts) == {"reversed": 1, "counted": 3, "young": 1}
        assert codes(found) == {FindingCode.GRADUATIONS_REVERSED: 1}

    def test_a_young_graduation_counts_from_thirty_days_on_or_once_it_is_reversed(self):
        def facts(ago, *reversals):
            found = score_graduation_fp_rate([event("graduated", ago)], reversals, [], now=NOON)
            return found.score, found.facts["counted"], found.facts["reversed"]

        assert facts(days(30) - TICK) == (None, 0, 0)
        assert facts(days(30)) == (100, 1, 0)
        assert facts(days(3), event("demoted", days(1)))[1:] == (1, 1)

    def test_a_reversal_counts_up_to_thirty_days_after_and_for_the_graduation_before_it_alone(self):
        def wrong(*reversals, graduations=(60,)):
            rows = [event("graduated", days(ago), number=place) for place, ago in enumerate(graduations)]
            return score_graduation_fp_rate(rows, reversals, [], now=NOON).facts["reversed"]

        assert wrong(event("demoted", days(30))) == 1
        assert wrong(EventRecord(9, "a", "demoted", NOON - days(30) + TICK, "")) == 0
        assert wrong(event("demoted", days(70))) == 0
        assert wrong(event("demoted", days(50), number=9), graduations=(60, 40)) == 1
        assert wrong(event("demoted", days(59)), event("demoted", days(58)), graduations=(60,)) == 1

    @table(
        "mark,code",
        [
            ("is_decayed", FindingCode.SKILL_DECAYED),
            ("has_fallen_by_one", FindingCode.OUTCOMES_OF_ONE_OWNER),
            ("is_by_ladder", FindingCode.GRADUATED_BY_LADDER),
        ],
    )
    def test_graduates_in_doubt_are_a_finding_without_a_score(self, mark, code):
        rows = methods(2, **{mark: True})
        waiting = rows[0]._replace(uid="w", is_graduated=False)
        found = score_graduation_fp_rate([], [], [*rows, waiting, *methods(1)], now=NOON)
        assert (found.score, codes(found)) == (None, {code: 2})
        assert found.findings[0].rows == ("methodology:major_crypto0", "methodology:major_crypto1")
        assert found.findings[0].severity is Severity.MEDIUM


class TestAttributionIntegrity:
    @table(
        "counts,score",
        [
            (CaseCounts(0, 0, 0), None),
            (CaseCounts(10, 10, 0), 100),
            (CaseCounts(10, 5, 0), 0.7 * 50 + 30),
            (CaseCounts(8, 6, 2), 100 * (0.7 * 6 / 8 + 0.3 * 8 / 10)),
            (CaseCounts(0, 0, 3), 0),
        ],
    )
    def test_weighs_resolved_cases_and_the_backlog(self, counts, score):
        found = score_attribution_integrity(counts).score
        assert found == (score if score is None else pytest.approx(score, abs=1e-12))

    def test_a_case_is_overdue_at_fourteen_days_with_its_window_over(self):
        def case(decided, ends, state="pending"):
            return CaseRecord(1, state, NOON - decided, NOON - ends)

        cases = [
            case(days(14), hours(0)),
            case(days(14) - TICK, hours(1)),
            case(days(20), -hours(1)),
            case(days(20), hours(1), "inconclusive"),
            case(days(20), hours(1), "confirmed_bad"),
        ]
        assert count_cases(cases, now=NOON) == CaseCounts(closed=2, resolved=1, overdue=1, first=(1,), unresolved=(1,))

    @table(
        "expired,gaps,judged,severity",
        [(0, 0, 9, None), (1, 1, 8, "low"), (1, 1, 7, "medium"), (3, 2, 0, "medium"), (19, 2, 83, "medium")],
    )
    def test_cases_that_no_price_judged_are_found_by_their_share_of_the_closed(self, expired, gaps, judged, severity):
        def case(number, state, gap=""):
            return CaseRecord(number, state, NOON - days(2), NOON - days(1), gap)

        states = ["expired"] * expired + ["inconclusive"] * gaps + ["confirmed_good"] * judged
        cases = [
            case(number, state, "late_exit" if expired <= number < expired + gaps else "")
            for number, state in enumerate(states)
        ]
        unclear = case(999, "inconclusive")  # inside the noise band
        findings = score_attribution_integrity(count_cases([*cases, unclear], now=NOON)).findings
        found = next((each for each in findings if each.code is FindingCode.CASES_WITHOUT_PRICE), None)
        assert (found and found.severity) == severity
        if found:
            assert (found.count, found.facts) == (expired + gaps, {"of": len(states) + 1})
            assert found.rows == tuple(f"trading_case:{number}" for number in range(min(expired + gaps, 20)))

    def test_names_the_first_twenty_overdue_cases(self):
        cases = [CaseRecord(number, "pending", NOON - days(20), NOON - days(1)) for number in range(25)]
        found = score_attribution_integrity(count_cases(cases, now=NOON))
        assert (found.findings[0].count, len(found.findings[0].rows)) == (25, 20)
        assert found.findings[0].rows[0] == "trading_case:0"


class TestCoverageHealth:
    @table(
        "counts,score",
        [
            ((), None),
            ((3, 3, 3, 3, 3), 100),
            ((9, 9, 9, 9, 9), 100),
            ((3, 3, 3), 60),
            ((3, 3), 40 * 2 / 3),
            ((1,), 100 / 15 / 3),
            ((3, 2, 1), 100 * (1 + 2 / 3 + 1 / 3) / 5),
        ],
    )
    def test_is_the_mean_over_five_groups_and_less_below_three_of_them(self, counts, score):
        found = score_coverage_health(methods(*counts)).score
        assert found == (score if score is None else pytest.approx(score, abs=1e-12))

    def test_a_methodology_is_active_from_ten_uses_on_and_graduated(self):
        rows = methods(1)
        assert score_coverage_health(methods(1, uses=9)).score is None
        assert score_coverage_health([rows[0]._replace(is_graduated=False)]).score is None
        waiting = MethodologyRecord("w", AssetClass("stock"), 3, False)
        found = score_coverage_health([*rows, waiting])
        bare = next(each for each in found.findings if each.code is FindingCode.GROUPS_UNCOVERED)
        assert (bare.count, bare.rows, bare.facts["groups"]) == (4, ("methodology:w",), "stock,index,commodity,forex")


class TestQuarantineChurn:
    def test_counts_methods_with_three_changes_of_those_with_any(self):
        kinds = ("graduated", "demoted", "quarantined")
        events = [
            *(event(kind, days(1), "a") for kind in kinds),
            *(event(kind, days(1), "b") for kind in kinds[:2]),
            event("created", days(1), "c"),
            *(event(kind, days(1), "d") for kind in ("reflection_adjusted", "outcome_recorded", "deduplicated") * 2),
            EventRecord(1, None, "market_stress_freeze", NOON, ""),
        ]
        found = score_quarantine_churn(events)
        assert found.score == pytest.approx(100 * 2 / 3, abs=1e-12)
        assert (found.findings[0].rows, found.findings[0].count) == (("methodology:a",), 1)
        assert score_quarantine_churn(events[5:6]).score == 100
        assert score_quarantine_churn(events[6:]).score is None


class TestCronHealth:
    @table(
        "lag,overdue,score",
        [
            (hours(0), 0, 100),
            (hours(12), 0, 100),
            (hours(90), 0, 50),
            (days(7) - TICK, 0, 0),
            (days(7), 0, 0),
            (days(30), 0, 0),
            (hours(1), 50, 85),
            (hours(1), 100, 70),
            (hours(1), 999, 70),
            (hours(90), 50, 35),
            (days(7), 100, 0),
            (-hours(1), 0, 100),
        ],
    )
    def test_falls_from_twelve_hours_to_seven_days_and_with_overdue_cases(self, lag, overdue, score):
        found = score_cron_health(
            HeartbeatRecord(1, NOON - lag, True),
            CaseCounts(0, 0, overdue),
            now=NOON,
        ).score
        assert found == pytest.approx(score, abs=1e-9)
        assert found < 100 or lag <= hours(12)

    def test_a_tick_after_twelve_hours_costs_and_is_found(self):
        found = score_cron_health(
            HeartbeatRecord(1, NOON - hours(12) - TICK, True),
            CaseCounts(0, 0, 0),
            now=NOON,
        )
        assert 99.999 < found.score < 100
        assert codes(found) == {FindingCode.HEARTBEAT_LATE: 1}

    def test_without_a_heartbeat_overdue_cases_score_nothing_and_none_is_no_score(self):
        found = score_cron_health(None, CaseCounts(5, 5, 2, (7, 8)), now=NOON)
        assert (found.score, codes(found)) == (0, {FindingCode.HEARTBEAT_MISSING: 2})
        assert score_cron_health(None, CaseCounts(5, 5, 0), now=NOON).score is None

    def test_a_failed_heartbeat_is_found(self):
        found = score_cron_health(HeartbeatRecord(1, NOON, False), CaseCounts(0, 0, 0), now=NOON)
        assert (found.score, codes(found)) == (100, {FindingCode.HEARTBEAT_FAILED: 1})


@table("share,severity", [(0, "low"), (0.19, "low"), (0.2, "medium"), (0.39, "medium"), (0.4, "high"), (1, "high")])
def test_severity_follows_the_share(share, severity):
    assert severity_of(share) == severity
