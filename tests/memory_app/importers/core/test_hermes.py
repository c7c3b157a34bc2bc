from memory_app.importers.core.entries import Entry, Line, Refusal
from memory_app.importers.core.hermes import parse_entries
from memory_app.memories.core import Category
from tests.memory_app.importers.core.lines import lines


def contents(text: str) -> list[str]:
    return [item.content for item in parse_entries(lines(text), Category.OBSERVATION) if isinstance(item, Entry)]


def test_entries_are_divided_by_the_section_sign() -> None:
    assert contents("one\n§\ntwo\nstill two\n\nand more\n§\nthree") == ["one", "two\nstill two\n\nand more", "three"]


def test_a_bullet_inside_an_entry_stays_in_it() -> None:
    assert contents("servers:\n- a\n- b\n§\nother") == ["servers:\n- a\n- b", "other"]


def test_a_section_sign_within_a_line_divides_nothing() -> None:
    assert contents("see § 12\n§\ntwo") == ["see § 12", "two"]


def test_empty_entries_say_nothing() -> None:
    assert contents("§\n\n§\n one \n§\n") == ["one"]


def test_a_file_without_divider_is_read_as_markdown() -> None:
    assert contents("# Notes\n- one\n- two") == ["one", "two"]


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
