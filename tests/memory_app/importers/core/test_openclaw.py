from datetime import UTC, date, datetime

from memory_app.importers.core.entries import Entry, ProfileValue, Refusal
from memory_app.importers.core.markdown import Block
from memory_app.importers.core.openclaw import as_entry, note_date, parse_daily_note, parse_memory, parse_user
from minara_site.kernel.core.vocabulary import Category
from tests.kit.tables import table
from tests.memory_app.importers.core.lines import lines


def test_the_nearest_telling_heading_gives_the_category() -> None:
    note = "# Memory\n- seen\n## Preferences\n- liked\n### Detail\n- liked too\n## 教训\n- 学到\n## Reference links\n- a link"
    found = [(item.category, item.content) for item in parse_memory(lines(note)) if isinstance(item, Entry)]
    assert found == [
        (Category.OBSERVATION, "seen"),
        (Category.PREFERENCE, "liked"),
        (Category.PREFERENCE, "liked too"),
        (Category.LESSON, "学到"),
        (Category.REFERENCE, "a link"),
    ]


@table(
    ("note", "expected", "heading"),
    [
        ("# Preferences\n- [lesson] trail by 8%", (Category.LESSON, "trail by 8%"), "Preferences"),
        ("# A\n## B\n- [idea] buy low", (Category.OBSERVATION, "[idea] buy low"), "A > B"),
    ],
)
def test_a_category_written_before_the_text_wins_over_the_heading_which_is_kept(
    note: str,
    expected: tuple[Category, str],
    heading: str,
) -> None:
    (item,) = parse_memory(lines(note))
    assert isinstance(item, Entry)
    assert (item.category, item.content) == expected
    assert item.metadata == {"heading": heading}


def test_daily_notes_carry_their_day() -> None:
    items = list(parse_daily_note(lines("- a\n- b"), date(2026, 5, 1)))
    assert [item.written_at for item in items if isinstance(item, Entry)] == [datetime(2026, 5, 1, tzinfo=UTC)] * 2


@table(
    ("line", "key", "value"),
    [
        ("- **Name:** Ana", "name", "Ana"),
        ("- **What to call them:** Ana B", "what_to_call_them", "Ana B"),
        ("Timezone: Asia/Shanghai", "timezone", "Asia/Shanghai"),
        ("**Risk tolerance**: low", "risk_tolerance", "low"),
        ("- preferred_chains: base, arbitrum", "preferred_chains", "base, arbitrum"),
        ("home_language：zh", "home_language", "zh"),
        ("**Site:** //example.com", "site", "//example.com"),
    ],
)
def test_user_lines_become_profile_values(line: str, key: str, value: str) -> None:
    (item,) = parse_user(lines(line))
    assert item == ProfileValue(1, key, value)


@table(
    "line", ["- **Name:**", "**Pronouns:** _(optional)_", "_Learn about the person._", "*(What do they care about?)*"]
)
def test_blanks_of_the_template_say_nothing(line: str) -> None:
    assert list(parse_user(lines(line))) == []


@table(
    "line",
    [
        "Ana trades in the morning.",
        "https://example.com is their site",
        "Once we agreed on one thing: no leverage",
        "称呼：安娜",
        "one: two\nthree: four",
    ],
)
def test_other_user_text_becomes_a_personalization_memory(line: str) -> None:
    (item,) = parse_user(lines(line))
    assert isinstance(item, Entry)
    assert (item.category, item.content) == (Category.PERSONALIZATION, line)


def test_a_key_that_comes_again_becomes_a_memory() -> None:
    first, second = parse_user(lines("# A\n- Notes: x\n# B\n- Notes: y"))
    assert isinstance(first, ProfileValue)
    assert isinstance(second, Entry)
    assert second.content == "Notes: y"


def test_an_unreadable_block_is_refused() -> None:
    assert as_entry(Block(3, "", (), "broken"), Category.FACT) == Refusal(3, "broken")
    assert list(parse_user([*lines("- a"), type(lines("")[0])(2, "", "broken")])) == [Refusal(1, "broken")]


@table(
    ("name", "day"),
    [
        ("2026-05-01.md", date(2026, 5, 1)),
        ("2026-05-01-reset.md", date(2026, 5, 1)),
        ("2026-02-30.md", None),
        ("notes.md", None),
        ("2026-05-01.txt", None),
        ("../2026-05-01.md", None),
    ],
)
def test_knows_daily_notes_by_name(name: str, day: date | None) -> None:
    assert note_date(name) == day
