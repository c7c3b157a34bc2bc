from memory_app.bundle.core.plan import Channel, FilePlan, Reason, Verdict
from memory_app.bundle.core.preview import MAX_SHOWN, Row, Tally, keep_rows, row_of, said_by


def counted(*rows: Row, binding: tuple[str, ...] = ("1",)) -> Tally:
    tally = Tally(binding)
    for row in rows:
        tally.add(row)
    return tally


def test_a_file_shows_what_it_says_beside_what_is_stored() -> None:
    plan = FilePlan(
        path="memories/lesson/1.md",
        channel=Channel.SIGNED,
        verdict=Verdict.KNOWN,
        kind="memory",
        reason=Reason.SAYS_OTHERWISE,
        about="memory 1",
        row={"content": "trail by 8%"},
        stored={"content": "trail by 5%"},
    )
    row = row_of(plan)
    assert (row.text, row.stored, row.reason, row.channel) == ("trail by 8%", "trail by 5%", "says_otherwise", "signed")


def test_a_profile_shows_its_entries_one_a_line() -> None:
    assert said_by({"entries": {"risk": "low", "zone": "UTC"}}) == "risk: low\nzone: UTC"
    assert said_by(None) == said_by({}) == ""


def test_a_row_comes_back_as_it_was_kept() -> None:
    rows = [Row("a:1", "new", text="x"), Row("a:2", "rejected", why="no")]
    kept = [row.as_json() for row in rows]
    assert keep_rows(kept, "") == rows
    assert keep_rows(kept, "rejected") == rows[1:]
    assert kept[0] == {"place": "a:1", "verdict": "new", "text": "x"}


def test_some_of_each_verdict_are_listed_and_all_are_counted() -> None:
    rows = [Row(f"a:{n}", "new") for n in range(MAX_SHOWN + 5)]
    found = counted(*rows, Row("a:last", "rejected")).preview(ignored=3)
    assert (len(found.rows), found.rows[-1].place) == (MAX_SHOWN + 1, "a:last")
    assert (found.verdicts, found.ignored) == ({"new": MAX_SHOWN + 5, "rejected": 1}, 3)
    assert found.marks == "n" * (MAX_SHOWN + 5) + "r"


def test_the_hash_changes_with_everything_but_the_words_of_a_reason() -> None:
    row = Row("a:1", "new", kind="[lesson]", text="x", why="because")
    same = counted(row).preview(0).sha256
    assert counted(Row("a:1", "new", kind="[lesson]", text="x", why="weil")).preview(0).sha256 == same
    others = (
        counted(Row("a:2", "new", kind="[lesson]", text="x")),
        counted(Row("a:1", "held", kind="[lesson]", text="x")),
        counted(Row("a:1", "new", kind="[alert]", text="x")),
        counted(Row("a:1", "new", kind="[lesson]", text="y")),
        counted(row, row),
        counted(row, binding=("2",)),
        counted(),
    )
    assert same not in {other.preview(0).sha256 for other in others}
