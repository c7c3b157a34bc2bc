"""What a roll-back does to one value of a user profile."""

from memory_app.writes.core.profile import EntryStep, decide_entries
from minara_site.kernel.rollback import UnchangedRow
from minara_site.kernel.unchanged import UnchangedReason

ME, OTHER = "key:me", "user:2"


def test_an_entry_gets_the_value_before_the_first_change() -> None:
    changes = [(4, 1, "zone", ME), (5, 1, "zone", ME), (6, 1, "home", OTHER), (7, 2, "zone", ME)]
    steps, unchanged = decide_entries(changes, mine={4, 5, 7}, reapplied={})
    assert steps == [EntryStep(1, "zone", 4, 5), EntryStep(2, "zone", 7, 7)]
    assert unchanged == []


def test_an_entry_that_somebody_else_set_since_stays_unchanged() -> None:
    steps, unchanged = decide_entries([(4, 1, "zone", ME), (5, 1, "zone", OTHER)], mine={4}, reapplied={})
    assert steps == []
    assert unchanged == [UnchangedRow(UnchangedReason.CHANGED_SINCE, "zone", 1, by=OTHER)]


def test_an_entry_that_was_set_upon_somebody_elses_value_gets_theirs_back() -> None:
    changes = [(4, 1, "zone", ME), (5, 1, "zone", OTHER), (6, 1, "zone", ME), (7, 1, "zone", ME)]
    assert decide_entries(changes, mine={4, 6, 7}, reapplied={}) == ([EntryStep(1, "zone", 6, 7)], [])


def test_changes_of_an_entry_that_were_undone_count_for_nobody() -> None:
    changes = [(4, 1, "zone", ME), (5, 1, "zone", OTHER), (6, 1, "zone", OTHER)]
    assert decide_entries(changes[:2], mine={4}, reapplied={5: 4}) == ([], [])
    assert decide_entries(changes, mine={4}, reapplied={5: 4, 6: 5}) == ([EntryStep(1, "zone", 4, 6)], [])
