import string
import tracemalloc
from itertools import chain, count, islice

from hypothesis import given, strategies as st

from memory_app.importers.core.entries import Line
from memory_app.importers.core.markdown import MAX_HEADING_CHARS, read_blocks, without_front_matter
from tests.kit.tables import table
from tests.memory_app.importers.core.lines import lines


def texts(text: str) -> list[str]:
    return [block.text for block in read_blocks(lines(text))]


@table(
    ("note", "expected"),
    [
        ("", []),
        ("\n\n", []),
        ("one\n\ntwo", ["one", "two"]),
        ("one\nstill one", ["one\nstill one"]),
        ("- a\n- b\n* c\n+ d\n1. e\n2) f", ["a", "b", "c", "d", "e", "f"]),
        ("- a\n  more of a\n- b", ["a\nmore of a", "b"]),
        ("- a\n  - under a\n  - under a too\n- b", ["a\n- under a\n- under a too", "b"]),
        ("- a\n\n  second paragraph of a\n\n- b", ["a\n\nsecond paragraph of a", "b"]),
        ("- a\nlazy line of a", ["a\nlazy line of a"]),
        ("- [ ] open\n- [x] done", ["open", "done"]),
        ("- \n-\n* ", []),
        ("a\n---\nb\n***\nc", ["a", "b", "c"]),
        ("```\ncode\n\n- no bullet\n```\n\nafter", ["```\ncode\n\n- no bullet\n```", "after"]),
        ("# Title\ntext", ["text"]),
        ("-5% is no bullet", ["-5% is no bullet"]),
        ("- 5% is one", ["5% is one"]),
        ("2026-06-12 is no number", ["2026-06-12 is no number"]),
        ("<!-- a\nb -->\nc", ["c"]),
        ("<!-- a --> b", ["b"]),
        ("<!-- a -->  - b\n- c", ["b", "c"]),
        ("<!-- a\nb --> c", ["c"]),
        ("<!-- a --><!-- b -->\n<!-- c --> <!-- d\ne --> f", ["f"]),
        ("<!--> a\n\n<!---> b", ["a", "b"]),
        ("- a <!-- b -->", ["a <!-- b -->"]),
        ("<!-- a\n- b\n\nc", ["<!-- a", "b", "c"]),
        ("<!-- a --> <!-- b\n- c", ["<!-- a --> <!-- b", "c"]),
        ("```\n<!-- a -->\n```\n<!-- b -->", ["```\n<!-- a -->\n```"]),
        ("---\ntitle: x\ntags: [a]\n---\ntext", ["text"]),
        ("---\n\ntext\n---\nmore", ["text", "more"]),
        ("中文一条\n\n- 止损 8%", ["中文一条", "止损 8%"]),
    ],
)
def test_cuts_bullets_and_paragraphs(note: str, expected: list[str]) -> None:
    assert texts(note) == expected


def test_names_the_line_that_a_block_begins_at() -> None:
    assert [block.line for block in read_blocks(lines("# T\n\n- a\n  b\n\ntext"))] == [3, 6]


def test_keeps_the_trail_of_headings() -> None:
    blocks = list(read_blocks(lines("# A\none\n## B ##  \ntwo\n### C # C\nthree\n## D\nfour")))
    assert [block.headings for block in blocks] == [("A",), ("A", "B"), ("A", "B", "C # C"), ("A", "D")]


def test_a_heading_as_long_as_a_text_is_one() -> None:
    longest = "a" * MAX_HEADING_CHARS
    blocks = list(read_blocks(lines(f"# {longest}\n- b\n\n## {longest}a\n- c")))
    assert [(block.text, block.headings) for block in blocks] == [
        (text, (longest,)) for text in ("b", f"## {longest}a", "c")
    ]


def test_a_block_with_an_unreadable_line_is_refused_whole() -> None:
    note = [Line(1, "- a"), Line(2, "", "the line is not UTF-8"), Line(3, "  rest of a"), Line(4, "- b")]
    blocks = list(read_blocks(note))
    assert [(block.line, block.problem) for block in blocks] == [(1, "the line is not UTF-8"), (4, "")]


def test_an_unreadable_line_alone_is_refused() -> None:
    assert [block.problem for block in read_blocks([Line(1, "", "broken")])] == ["broken"]


@given(st.text(alphabet=string.ascii_letters + " \n-*#`1.<>!\t", max_size=200))
def test_every_block_says_something_and_lines_rise(note: str) -> None:
    blocks = list(read_blocks(lines(note)))
    assert all(block.text.strip() for block in blocks)
    numbers = [block.line for block in blocks]
    assert numbers == sorted(set(numbers))


def test_a_note_of_any_length_is_read_line_by_line() -> None:
    endless = (Line(number, "a" if number > 1 else "---") for number in count(1))
    assert len(list(islice(without_front_matter(endless), 5_000))) == 5_000
    blank = (Line(number, "") for number in range(200_000))
    tracemalloc.start()
    begun = chain([Line(1, "<!--")], blank, [Line(200_001, "-->")])
    assert [block.text for block in read_blocks(begun)] == ["<!--", "-->"]
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
