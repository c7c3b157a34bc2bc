from memory_app.importers.core.entries import Entry, Line, Refusal
from memory_app.importers.core.hermes import parse_entries
from minara_site.kernel.core.vocabulary import Category
from tests.kit.tables import table
from tests.memory_app.importers.core.lines import lines


def contents(text: str) -> list[str]:
    return [item.content for item in parse_entries(lines(text), Category.OBSERVATION) if isinstance(item, Entry)]


@table(
    ("note", "expected"),
    [
        ("one\n§\ntwo\nstill two\n\nand more\n§\nthree", ["one", "two\nstill two\n\nand more", "three"]),
        ("servers:\n- a\n- b\n§\nother", ["servers:\n- a\n- b", "other"]),
        ("see § 12\n§\ntwo", ["see § 12", "two"]),
        ("§\n\n§\n one \n§\n", ["one"]),
        ("# Notes\n- one\n- two", ["one", "two"]),  # without a divider it is markdown
    ],
)
def test_entries_are_divided_by_a_section_sign_that_is_a_line(note: str, expected: list[str]) -> None:
    assert contents(note) == expected


def test_lines_and_categories() -> None:
    items = list(parse_entries(lines("[lesson] one\n§\n\ntwo"), Category.PERSONALIZATION))
    assert [(item.line, item.category) for item in items if isinstance(item, Entry)] == [
        (1, Category.LESSON),
        (4, Category.PERSONALIZATION),
    ]


def test_an_entry_with_an_unreadable_line_is_refused_whole() -> None:
    note = [Line(1, "one"), Line(2, "", "broken"), Line(3, "§"), Line(4, "two")]
    items = list(parse_entries(note, Category.OBSERVATION))
    assert items == [Refusal(1, "broken"), Entry(4, "two", Category.OBSERVATION)]
