"""Hermes Agent's memory files: MEMORY.md (the agent's notes) and USER.md (about the user).

Entries may span lines and are divided by a line that holds only the section sign. A file without one is read as
Markdown, as people write it by hand.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from memory_app.importers.core.entries import Entry, Item, Line, Refusal, split_category
from memory_app.importers.core.markdown import read_blocks
from memory_app.importers.core.openclaw import as_entry
from minara_site.kernel.core.vocabulary import Category

DIVIDER = "§"


def parse_entries(lines: Iterable[Line], category: Category) -> Iterator[Item]:
    """Read either file; `category` is what its entries are unless they begin with `[category]`."""
    known = list(lines)
    if not any(is_divider(line) for line in known):
        yield from (as_entry(block, category) for block in read_blocks(known))
        return
    for divides, group in groupby(known, key=is_divider):
        if not divides:
            yield from read_entry(list(group), category)


def is_divider(line: Line) -> bool:
    """Say whether the line divides two entries."""
    return line.text.strip() == DIVIDER


def read_entry(lines: list[Line], category: Category) -> Iterator[Item]:
    """Give the entry of these lines, none when they are empty."""
    said = [line for line in lines if line.text.strip() or line.problem]
    if not said:
        return
    problem = next((line.problem for line in said if line.problem), "")
    if problem:
        yield Refusal(said[0].number, problem)
    else:
        chosen, content = split_category(
            "\n".join(line.text for line in lines).strip(),
            category,
        )
        yield Entry(said[0].number, content, chosen)
