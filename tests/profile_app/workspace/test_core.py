"""Names, the table of the two-way copy, the schedule, who the agent is, additions. No database."""

from datetime import UTC, date, datetime

import pytest

from profile_app.workspace.core.identity import AgentIdentity, parse_identity
from profile_app.workspace.core.names import (
    SHORT_NAMES,
    FileName,
    Placement,
    done_name,
    full_name,
    is_done,
    newest_notes,
    note_date,
    placement_of,
)
from profile_app.workspace.core.problems import FileProblem, ProblemCode, decode_text
from profile_app.workspace.core.proposals import add_lines, find_missing
from profile_app.workspace.core.schedule import schedule_of
from profile_app.workspace.core.sync import Step, Stored, decide_step, digest
from tests.kit.tables import table

NO_NAMES = (
    *("soul.md", "Soul.md", "SOUL.MD", "SOUL", "SOUL.md ", " SOUL.md", "SOUL.md\n", "SOUL.md\0", "\uff33OUL.md"),
    *("S\u041eUL.md", "./SOUL.md", "../SOUL.md", "/SOUL.md", "memory/../SOUL.md", "%53OUL.md", "memory/SOUL.md", ""),
    *("memory", "memory/", "memory/2026-02-30.md", "memory/2026-1-1.md", "memory/2026-01-01.MD", "2026-01-01.md"),
    *("memory//2026-01-01.md", "memory/2026-01-01.md/", "Memory/2026-01-01.md", "memory/\u0662026-01-01.md"),
    *("BOOTSTRAP.done.md", "BOOTSTRAP.done.x.md", "BOOTSTRAP.done.20260612T120000Z.md", ".minara", "README.md"),
)


@table("name", NO_NAMES)
def test_no_other_name_is_a_file(name: str) -> None:
    assert placement_of(name) is None


def test_each_file_lands_where_the_source_says() -> None:
    lands = {placement: {name for name in FileName if placement_of(name) is placement} for placement in Placement}
    assert lands[Placement.PREFIX] == {"SOUL.md", "AGENTS.md"}
    assert lands[Placement.ONCE] == {"BOOTSTRAP.md"}
    assert lands[Placement.PERSONALIZATION] == {"USER.md"}
    assert lands[Placement.MEMORY] == {"MEMORY.md"}
    assert lands[Placement.SHOWN] == {"IDENTITY.md"}
    assert lands[Placement.NEVER] == {"TOOLS.md", "HEARTBEAT.md"}
    assert placement_of("memory/2026-02-28.md") is Placement.MEMORY
    done = done_name(datetime(2026, 6, 12, 12, tzinfo=UTC))
    assert is_done(done)
    assert placement_of(done) is Placement.NEVER


def test_a_terminal_names_files_shortly() -> None:
    assert {full_name(short) for short in SHORT_NAMES} == set(FileName)
    assert full_name("Soul") == "SOUL.md"
    assert full_name("memory/2026-11-01.md") == "memory/2026-11-01.md"


def test_the_newest_notes_are_of_no_later_day() -> None:
    names = ["memory/2026-06-10.md", "memory/2026-06-13.md", "SOUL.md", "memory/2026-06-12.md", "memory/2025-12-31.md"]
    found = newest_notes(names, limit=2, today=date(2026, 6, 12))
    assert found == ["memory/2026-06-12.md", "memory/2026-06-10.md"]
    assert note_date("memory/2024-02-29.md") == date(2024, 2, 29)


@table(
    "disk, known, database, others, step",
    [
        ("", "", "", {}, Step.NOTHING),
        ("a", "a", "a", {}, Step.NOTHING),
        ("b", "a", "b", {}, Step.NOTHING),
        ("a", "a", "b", {}, Step.WRITE),
        ("", "", "b", {}, Step.WRITE),
        ("a", "a", "", {}, Step.WRITE),
        ("c", "a", "a", {}, Step.READ),
        ("", "a", "a", {}, Step.READ),
        ("c", "", "", {}, Step.READ),
        ("c", "a", "b", {}, Step.READ_OVER),
        ("c", "", "b", {}, Step.READ_OVER),
        ("", "a", "b", {}, Step.WRITE),  # who removed a file did not know the new text
        ("c", "a", "b", {"former": {"c"}}, Step.WRITE),  # ours, by a process that ended before it could say so
        ("c", "a", "a", {"former": {"c"}}, Step.READ),  # an editor's way back
        ("c", "a", "a", {"waiting": "c"}, Step.WAIT),
        ("c", "a", "b", {"waiting": "c"}, Step.WAIT),
        ("d", "a", "a", {"waiting": "c"}, Step.READ),
        ("c", "a", "a", {"discarded": "c"}, Step.WRITE),
    ],
)
def test_the_table_of_the_two_way_copy(
    disk: str,
    known: str,
    database: str,
    others: dict[str, object],
    step: Step,
) -> None:
    assert decide_step(disk, Stored(content=database, folder=known, **others)) is step  # type: ignore[arg-type]


def test_no_file_and_an_empty_one_say_the_same() -> None:
    assert digest(b"") == ""
    assert digest(b"x") != digest(b"y")


@table(
    "data, code",
    [
        ("Güte".encode("latin-1"), ProblemCode.NOT_UTF8),
        ("Ruhe".encode("utf-16"), ProblemCode.NOT_UTF8),
        ("Ruhe".encode("utf-16-le"), ProblemCode.NOT_TEXT),
        (b"\xed\xa0\x80", ProblemCode.NOT_UTF8),
        (b"123456", ProblemCode.TOO_LARGE),
    ],
)
def test_bytes_that_are_no_text_of_ours(data: bytes, code: ProblemCode) -> None:
    with pytest.raises(FileProblem) as caught:
        decode_text(data, max_chars=5)
    assert caught.value.code is code


@table("text", ["\ufeff\u4f60\u597d\r\n", "a\rb", "\U0001f989|", ""])
def test_text_is_kept_to_the_byte(text: str) -> None:
    assert decode_text(text.encode(), max_chars=5).encode() == text.encode()


BEAT = "# HEARTBEAT\n\n## Schedule\n\n- 08:00 look\n  - twice\n\n### On Sundays\n\nnothing\n\n## State\n\ncalm\n"


@table(
    "changed, is_kept",
    [
        (BEAT.replace("calm", "busy\n\n### more"), True),
        (BEAT.replace("# HEARTBEAT\n", "# HEARTBEAT\n\nNew words.\n"), True),
        (BEAT.replace("\n", "\r\n"), True),
        (BEAT.replace("08:00", "09:00"), False),
        (BEAT.replace("nothing", "everything"), False),
        (BEAT.replace("## Schedule", "## schedule:"), False),
        (BEAT.replace("## Schedule", "## Plan"), False),
        (BEAT + "\n## SCHEDULE ##\n\n- 03:00 buy\n", False),
        (BEAT + "\n# Schedule\n\n- 03:00 buy\n", False),
        (BEAT + "\n## \uff33chedule\n\n- 03:00 buy\n", False),
        ("", False),
    ],
)
def test_the_schedule_is_kept_when_its_section_is(changed: str, is_kept: bool) -> None:
    assert (schedule_of(changed) == schedule_of(BEAT)) is is_kept


CRON = "## Schedule\n\n```cron\n# every morning\n0 8 * * * report\n```\n\n# Else\n\nx\n"
UNDERLINED = "Schedule\n--------\n- 08:00 report\n---\n- 09:00 look\n\nElse\n----\nx\n"


@table(
    "stored, changed, is_kept",
    [
        (CRON, CRON.replace("report", "buy"), False),
        (CRON, CRON.replace("x\n", "y\n"), True),
        (CRON.replace("`", "~"), CRON.replace("`", "~").replace("report", "buy"), False),
        (UNDERLINED, UNDERLINED.replace("look", "buy"), False),
        (UNDERLINED, UNDERLINED.replace("x\n", "y\n"), True),
    ],
)
def test_the_schedule_ends_at_a_heading_alone(stored: str, changed: str, is_kept: bool) -> None:
    assert (schedule_of(changed) == schedule_of(stored)) is is_kept


@table("line", ["## y" + " " * 31_990 + "x", "*" * 32_000, "name" + "* " * 15_990, "- " * 16_000, "#" * 32_000])
def test_a_long_line_is_read_once(line: str) -> None:
    assert (schedule_of(line), parse_identity(line)) == ((), AgentIdentity())


@table(
    "text, expected",
    [
        (
            "# IDENTITY\n\n- **Name:** Juno\n- **Vibe:** calm, exact\n- **Emoji:** \U0001f989\n",
            ("Juno", "calm, exact", "\U0001f989"),
        ),
        ("---\nname: Juno\nemoji: \U0001f989\n---\n", ("Juno", "", "\U0001f989")),
        ("* Name \uff1a \u5c0f\u7389\n* **Vibe**: `dry`", ("\u5c0f\u7389", "dry", "")),
        ("- **Name:** _(pick one)_\n- **Vibe:**\n- Name: Juno", ("Juno", "", "")),
        ("My name is nobody's business.", ("", "", "")),
    ],
)
def test_who_the_agent_is(text: str, expected: tuple[str, str, str]) -> None:
    assert parse_identity(text) == AgentIdentity(*expected)


def test_additions_are_what_a_text_lacks_in_other_words_than_case_and_marks() -> None:
    text = "# MEMORY\n\n- I hold  ETH for years.\n"
    known = ["i hold eth FOR years", "Never trade\non Fridays!", "never trade on fridays", "  "]
    assert find_missing(text, known) == ["Never trade on Fridays!"]
    assert find_missing("I hold ETH Classic. I trade weekly.", ["I hold ETH", "I trade weekly"]) == ["I hold ETH"]


@table(
    "text, expected",
    [
        ("", "## Added from memories\n\n- one\n"),
        ("# M\n", "# M\n\n## Added from memories\n\n- one\n"),
        ("# M", "# M\n\n## Added from memories\n\n- one\n"),
        ("# M\r\n", "# M\r\n\r\n## Added from memories\r\n\r\n- one\r\n"),
        ("## Added from memories\n\n- zero\n\n# Z\n", "## Added from memories\n\n- zero\n- one\n\n# Z\n"),
        ("## Added from memories\n\n- zero", "## Added from memories\n\n- zero\n- one\n"),
    ],
)
def test_additions_stand_in_a_section_of_their_own(text: str, expected: str) -> None:
    assert add_lines(text, ["one"]) == expected
    assert find_missing(expected, ["One."]) == []
