"""What changed between two texts, word by word; a Han, kana or Hangul character counts as a word.

The longest common subsequence is exact and found with bit vectors (Hyyrö 2004), so that no pair of texts is slow:
one addition of a big integer per word of the first text.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|\s+|.", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Op(StrEnum):
    """What happened to a piece of text."""

    EQUAL = "equal"
    DELETE = "delete"
    INSERT = "insert"


class Segment(NamedTuple):
    """A piece of text and what happened to it.

    Equal and deleted pieces joined are the text before, equal and inserted ones the text after.
    """

    op: Op
    text: str


def word_diff(before: str, after: str) -> list[Segment]:
    """Return the pieces in reading order, no two neighbours alike; of a change the deletion comes first."""
    return list(_joined(_changes(_steps(_WORD.findall(before), _WORD.findall(after)))))


def line_diff(before: str, after: str) -> list[Segment]:
    """Return whole lines, one segment each with its line break, in reading order."""
    return [Segment(op, line) for op, line in _steps(_LINE.findall(before), _LINE.findall(after))]


def _steps(words: list[str], others: list[str]) -> list[tuple[Op, str]]:
    """Return what happens to each word, in reading order."""
    head = _common_length(words, others)
    tail = _common_length(words[head:][::-1], others[head:][::-1])
    middle = _aligned(
        words[head : len(words) - tail],
        others[head : len(others) - tail],
    )
    return [
        *_equal(words[:head]),
        *middle,
        *_equal(words[len(words) - tail :]),
    ]


def _equal(words: Iterable[str]) -> Iterator[tuple[Op, str]]:
    return ((Op.EQUAL, word) for word in words)


def _common_length(words: list[str], others: list[str]) -> int:
    """Return how many words the two lists have in common at their start."""
    pairs = enumerate(zip(words, others, strict=False))
    return next(
        (index for index, (one, other) in pairs if one != other),
        min(len(words), len(others)),
    )


def _aligned(words: list[str], others: list[str]) -> list[tuple[Op, str]]:
    """Return the shortest list of steps that turns `words` into `others`."""
    rows = _lcs_rows(words, others)
    steps: list[tuple[Op, str]] = []
    row, column = len(words), len(others)
    while row and column:
        if words[row - 1] == others[column - 1]:
            row, column = row - 1, column - 1
            steps.append((Op.EQUAL, words[row]))
        elif rows[row - 1] >> (column - 1) & 1:
            column -= 1
            steps.append((Op.INSERT, others[column]))
        else:
            row -= 1
            steps.append((Op.DELETE, words[row]))
    steps += [(Op.INSERT, word) for word in others[:column][::-1]] + [(Op.DELETE, word) for word in words[:row][::-1]]
    return steps[::-1]


def _lcs_rows(words: list[str], others: list[str]) -> list[int]:
    """Return one bit vector per word: bit j is 0 where the common length grows with `others[j]`."""
    places: dict[str, int] = {}
    for index, word in enumerate(others):
        places[word] = places.get(word, 0) | 1 << index
    full = (1 << len(others)) - 1
    vector, rows = full, []
    for word in words:
        met = vector & places.get(word, 0)
        vector = (vector + met | vector - met) & full
        rows.append(vector)
    return rows


def _changes(steps: list[tuple[Op, str]]) -> Iterator[tuple[Op, str]]:
    """Yield the steps with each stretch of changes sorted, and blanks between two changes made part of them."""
    deleted: list[str] = []
    inserted: list[str] = []
    blank = ""
    for op, word in steps:
        if op is Op.EQUAL and (blank or not (deleted or inserted) or not word.isspace()):
            yield from _stretch(deleted, inserted)
            yield from _equal([blank, word])
            deleted, inserted, blank = [], [], ""
        elif op is Op.EQUAL:
            blank = word
        else:
            deleted += [blank, word] if op is Op.DELETE else [blank]
            inserted += [blank, word] if op is Op.INSERT else [blank]
            blank = ""
    yield from _stretch(deleted, inserted)
    yield from _equal([blank])


def _stretch(deleted: list[str], inserted: list[str]) -> Iterator[tuple[Op, str]]:
    yield Op.DELETE, "".join(deleted)
    yield Op.INSERT, "".join(inserted)


def _joined(steps: Iterable[tuple[Op, str]]) -> Iterator[Segment]:
    """Yield neighbours of one kind as one segment; empty ones vanish."""
    last, text = Op.EQUAL, ""
    for op, word in steps:
        if op is not last and word:
            if text:
                yield Segment(last, text)
            last, text = op, ""
        text += word
    if text:
        yield Segment(last, text)
