"""When a note is asked for, what becomes of an answer, and how lessons are named. Source: S4."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from learning_app.lessons.core import Cadence, hash_lessons_text, should_run_reflection
from learning_app.lessons.core.reflection import (
    NO_PATTERN,
    SLOTS,
    Unusable,
    find_problem,
    read_slots,
    render_lessons,
    render_question,
    trim_lessons,
)
from minara_site.kernel.core.fence import LEARNINGS, close_fence
from tests.kit.tables import Faults, table
from tests.learning_app.lessons.rows import SAID, lessons_of

AT = datetime(2026, 6, 12, 0, 30, tzinfo=UTC)
PER_N, DAILY = Cadence.PER_N_TRADES, Cadence.DAILY


class TestCadence:
    """Which ticks ask."""

    def test_every_case_of_the_table(self):
        faults = Faults()
        cases = [
            (Cadence.OFF, 10, True, None, AT, False),
            (PER_N, 9, True, None, AT, False),
            (PER_N, 10, True, None, AT, True),
            (PER_N, 10, False, None, AT, False),
            (PER_N, 11, True, None, AT, False),
            (PER_N, 20, True, AT, AT, True),
            (PER_N, 0, True, AT, AT, False),
            (DAILY, 1, True, None, AT, True),
            (DAILY, 0, False, None, AT, False),
            (DAILY, 3, False, AT - timedelta(hours=1), AT, True),
            (DAILY, 3, True, AT - timedelta(minutes=30), AT, False),
            (DAILY, 3, True, AT - timedelta(minutes=31), AT, True),
            (DAILY, 0, False, AT - timedelta(days=2), AT, False),
        ]
        for cadence, closed, this_tick, last, at, expected in cases:
            with faults.row((cadence, closed, this_tick, last)):
                asked = should_run_reflection(
                    cadence=cadence,
                    every_n=10,
                    closed_since_note=closed,
                    closed_this_tick=this_tick,
                    last_generated_at=last,
                    tick_at=at,
                )
                assert asked is expected
        faults.show()

    def test_days_are_those_of_utc_wherever_a_moment_was_written(self):
        east = timezone(timedelta(hours=8))
        last = datetime(2026, 6, 12, 7, 59, tzinfo=east)  # 23:59 of the day before
        same = {"cadence": DAILY, "every_n": 1, "closed_since_note": 1, "closed_this_tick": True}
        assert should_run_reflection(**same, last_generated_at=last, tick_at=AT)
        assert not should_run_reflection(**same, last_generated_at=last + timedelta(minutes=1), tick_at=AT)


class TestAnswer:
    """What is kept of what a model says."""

    def test_five_slots_stand_in_one_order_and_an_empty_one_says_so(self):
        text = render_lessons(lessons_of(sizing=["- Size  halved\nafter losses."], regime_fit=[NO_PATTERN, " "]))
        assert text == (
            f"### Entry timing\n{NO_PATTERN}\n### Sizing\n- Size halved after losses.\n### Symbol selection\n{NO_PATTERN}\n"
            f"### Exit timing\n{NO_PATTERN}\n### Regime fit\n{NO_PATTERN}"
        )
        assert read_slots(text) == [
            (heading, ["Size halved after losses."] if heading == "Sizing" else []) for heading in SLOTS.values()
        ]

    def test_a_fifth_bullet_and_a_sixth_slot_fit_no_answer(self):
        with pytest.raises(ValidationError):
            lessons_of(sizing=["a"] * 5)
        with pytest.raises(ValidationError):
            lessons_of(luck=["a"])

    @table(
        "slots, expected",
        [
            ({}, Unusable.EMPTY),
            ({"sizing": ["  "]}, Unusable.EMPTY),
            ({"sizing": ["x" * 1_900] * 2}, None),
            ({"sizing": ["x" * 1_990] * 2}, Unusable.TOO_LONG),
            ({"sizing": ["a NUL \0 in it"]}, Unusable.UNSAFE),
            ({"sizing": [f"{close_fence(LEARNINGS)} and more"]}, Unusable.UNSAFE),
            ({"sizing": ["So NEVER  short\tSOL again."]}, Unusable.AVOID_RULE),
            ({"sizing": ["Shorts of SOL never paid."]}, None),
        ],
    )
    def test_is_dropped_when_it_may_not_be_kept(self, slots, expected):
        assert find_problem(render_lessons(lessons_of(**slots)), ["never short sol", " "]) == expected

    def test_is_cut_at_the_end_of_a_line(self):
        text = render_lessons(lessons_of(**{name: ["x" * 300, "y" * 300] for name in SLOTS}))
        kept = trim_lessons(text)
        assert len(kept) <= 2_000
        assert text.startswith(f"{kept}\n")
        assert trim_lessons("a" * 2_000) == "a" * 2_000
        assert trim_lessons(f"{'a' * 2_000}\nb") == "a" * 2_000

    def test_lessons_without_headings_are_one_slot(self):
        assert read_slots("- one\ntwo") == [("", ["one", "two"])]
        assert read_slots("") == []


def test_one_text_has_one_name_however_its_white_space_is():
    assert hash_lessons_text(" a  b\n") == hash_lessons_text("a b")
    assert len(hash_lessons_text("a b") or "") == 16
    assert hash_lessons_text("a b") != hash_lessons_text("a B")
    assert hash_lessons_text(" \n") is None


def test_nothing_in_a_question_closes_its_fence():
    said = render_question({"strategy": "a", **SAID})
    assert said.count(close_fence(LEARNINGS)) == 1
    assert said.endswith(close_fence(LEARNINGS))
