"""Rendering of a compiled page: what is known about an asset, as markdown. Sources: S1 (compiled pages), trust R-48.

Entries go in, text comes out; the same entries give the same bytes in every process and locale. Every entry is one
line that begins with `- `, and no stored text can begin a line, a link, a heading or a tag of its own.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from memory_app.memories.core.fact_key import same_text
from memory_app.snapshot.core import SYSTEM_NOTE
from minara_site.kernel.core.assets import AssetClass, classify
from minara_site.kernel.core.fence import fence_text
from minara_site.kernel.core.hidden import find_unexpected
from minara_site.kernel.core.symbols import normalise_asset
from minara_site.kernel.core.tokens import estimate_tokens

UNDATED = datetime.min.replace(tzinfo=UTC)
_STRUCTURE = re.compile(
    r"[\\`\[\]]"  # code spans, links, images, our own labels
    r"|<(?=[A-Za-z/!?])"  # raw HTML and <https://...>
    r"|(?<!\S)#(?=#{0,5}(?:\s|$))"  # a heading that lost its line
    r"|:(?=//)|(?<=\bwww)\.",  # what some readers turn into links by themselves
    re.IGNORECASE,
)


class Heading(StrEnum):
    """The sections of a page, in the order of their appearance."""

    COMPILED_TRUTH = "Compiled truth"
    TIMELINE = "Timeline"


@dataclass(frozen=True, slots=True)
class Asset:
    """A classified asset under its canonical symbol."""

    symbol: str
    asset_class: AssetClass


class RowKind(StrEnum):
    """Which table an entry stands in."""

    MEMORY = "memory"
    DECISION = "decision"
    TRADE = "trade"
    METHODOLOGY = "methodology"
    PREFERENCE = "preference"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing known about an asset. `kind`, `provenance` and `note` are words of ours, `text` is stored content.

    `row_id` is the id of the row that it stands for. `at` is given where the time matters: the line begins with its
    UTC date. `conflicts` are the memories beside which it cannot be true.
    """

    kind: str
    provenance: str
    row_id: int | str
    text: str
    note: str = ""
    at: datetime | None = None
    row: RowKind = RowKind.MEMORY
    conflicts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it."""

    heading: Heading
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class CompiledPage:
    """A page as it was compiled: its sections, and exactly the bytes that an agent reads."""

    asset: Asset
    sections: tuple[Section, ...]
    markdown: str
    compiled_at: datetime

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything that it says, in its order."""
        return tuple(entry for section in self.sections for entry in section.entries)

    @property
    def tokens(self) -> int:
        """What it costs, estimated."""
        return estimate_tokens(self.markdown)

    def age(self, now: datetime) -> timedelta:
        """Return how long ago it was compiled; negative when the clock was put back."""
        return now - self.compiled_at


def find_asset(written: str) -> Asset | None:
    """Return the asset that somebody wrote in any of its spellings; None when it has no class (R-48)."""
    symbol = normalise_asset(written)
    asset_class = classify(symbol) if symbol else None
    return Asset(symbol, asset_class) if symbol and asset_class else None


def render_page(asset: Asset, sections: Iterable[Section]) -> str:
    """Return the markdown of a page; head and note always stand."""
    text = (
        f"# {asset.symbol}\n\n{SYSTEM_NOTE}\n"
        f"Asset class: {asset.asset_class.value}\nGroup: {asset.asset_class.group.value}\n"
    )
    for section in sections:
        text += f"\n## {section.heading.value}\n\n" + "".join(f"{render_entry(entry)}\n" for entry in section.entries)
    return text


def render_entry(entry: Entry) -> str:
    """Return the one line of an entry: when, what kind of thing, where it comes from, and then what it says."""
    date = f"{entry.at.astimezone(UTC).date().isoformat()} " if entry.at else ""
    conflicts = f"in conflict with memory {', '.join(map(str, entry.conflicts))}" if entry.conflicts else ""
    origin = ", ".join(filter(None, (entry.note, entry.provenance, f"{entry.row} {entry.row_id}", conflicts)))
    return f"- {date}[{entry.kind}] ({origin}) {plain_line(entry.text)}".rstrip()


def plain_line(text: str) -> str:
    """Return stored text as one line in which markdown finds no structure.

    Line breaks become spaces, hidden characters are dropped, fence tags are defused, marks get a backslash.
    """
    line = fence_text(without_hidden(fence_text(text)))
    return _STRUCTURE.sub(lambda mark: f"\\{mark.group()}", line)


def without_hidden(text: str) -> str:
    """Return the text without the hidden characters that ordinary writing has no use for."""
    kept, place = [], 0
    for start, end in find_unexpected(text):
        kept.append(text[place:start])
        place = end
    return "".join([*kept, text[place:]])


def key_of(entry: Entry) -> Any:
    """Return what entries that say the same have in common; a decision or method stands for itself."""
    is_stated = entry.row in {RowKind.MEMORY, RowKind.PREFERENCE}
    return same_text(entry.text) if is_stated else (entry.row, entry.row_id)


def join_parts(parts: Sequence[Section]) -> tuple[Section, ...]:
    """Return one section a heading, in the order of the headings; one without entries is left out.

    What has a date stands newest first, whichever part it came from; the rest keeps the order of the parts. Of texts
    that say the same the first stands.
    """
    sections = []
    for heading in Heading:
        found = [entry for part in parts if part.heading is heading for entry in part.entries]
        entries = list({key_of(entry): entry for entry in reversed(found)}.values())[::-1]
        if entries:
            entries.sort(key=lambda entry: entry.at or UNDATED, reverse=True)
            sections.append(Section(heading, tuple(entries)))
    return tuple(sections)
