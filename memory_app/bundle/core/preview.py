"""What a person is shown before an import, the same for our own tree and for files of other products."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from memory_app.bundle.core.plan import FilePlan, ImportPlan, Verdict
from minara_site.kernel.guard.masking import mask, mask_value

MAX_SHOWN = 1_000  # of each verdict
LETTERS = {"new": "n", "updated": "u", "held": "h", "known": "k", "rejected": "r", "skipped": "s"}


@dataclass(frozen=True, slots=True)
class Row:
    """One file or entry: where it stands, what becomes of it and why, what it says, and what is stored in its place.

    `reason` is a word of `Reason` with `about` for a file of our own tree; `why` says it in words for other products.
    """

    place: str
    verdict: str
    channel: str = ""
    kind: str = ""
    reason: str = ""
    about: str = ""
    why: str = ""
    text: str = ""
    stored: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the row without what is empty, and without the secrets of a text that will be held."""
        kept = replace(self, text=masked_text(self)) if self.verdict == Verdict.HELD else self
        return {name: value for name, value in asdict(kept).items() if value}


@dataclass(frozen=True, slots=True)
class Preview:
    """What an import would do. `rows` are the first of each verdict; counts and `sha256` cover all.

    `marks` say of every row what it was shown to become: a letter each for rows, the marks of its plan for a tree.
    """

    rows: tuple[Row, ...]
    verdicts: Mapping[str, int]
    channels: Mapping[str, int]
    ignored: int
    sha256: str
    constraints: int = 0
    marks: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the preview for a JSON column; the hash has a column of its own."""
        return {
            "rows": [row.as_json() for row in self.rows],
            "verdicts": dict(self.verdicts),
            "channels": dict(self.channels),
            "ignored": self.ignored,
            "constraints": self.constraints,
            "marks": self.marks,
        }


@dataclass
class Tally:
    """Counts the rows of a foreign file while they pass, and hashes them in their order."""

    binding: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    letters: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin the hash with what else the plan depends on."""
        self.digest = hashlib.sha256(json.dumps(self.binding).encode())

    def add(self, row: Row) -> None:
        """Take a row into account; why it is known is said in a language and is no part of the hash."""
        self.verdicts[row.verdict] += 1
        self.letters.append(LETTERS[row.verdict])
        self.digest.update(json.dumps([row.place, row.verdict, row.kind, row.text]).encode())
        if self.verdicts[row.verdict] <= MAX_SHOWN:
            self.rows.append(row)

    def preview(self, ignored: int) -> Preview:
        """Return what was counted."""
        sha256 = self.digest.hexdigest()
        return Preview(
            tuple(self.rows),
            self.verdicts,
            {},
            ignored,
            sha256,
            marks="".join(self.letters),
        )


def preview_tree(plan: ImportPlan) -> Preview:
    """Return the plan of our own tree as it is shown."""
    return Preview(
        rows=tuple(row_of(each) for each in plan.files),
        verdicts={verdict.value: count for verdict, count in plan.verdicts.items()},
        channels={channel.value: count for channel, count in plan.channels.items()},
        ignored=plan.ignored,
        sha256=plan.sha256,
        constraints=plan.constraints,
        marks=plan.marks,
    )


def row_of(plan: FilePlan) -> Row:
    """Return a file of a plan as a row."""
    return Row(
        place=plan.path,
        verdict=plan.verdict.value,
        channel=plan.channel.value,
        kind=plan.kind,
        reason=plan.reason.value,
        about=plan.about,
        text=said_by(plan.row),
        stored=said_by(plan.stored),
    )


def masked_text(row: Row) -> str:
    """Return what a row says with its secrets masked; some in a user profile are told by the key, its kind `key =`."""
    key, is_value, _rest = row.kind.partition(" =")
    return mask_value(key, row.text) if is_value else mask(row.text)


def said_by(row: Mapping[str, Any] | None) -> str:
    """Return what a row says: the content of a memory, the entries of a user profile one a line."""
    if not row:
        return ""
    entries = row.get("entries")
    if isinstance(entries, Mapping):
        return "\n".join(f"{key}: {value}" for key, value in entries.items())
    return str(row.get("content", ""))


def keep_rows(rows: Iterable[Mapping[str, str]], verdict: str) -> list[Row]:
    """Return stored rows, those of one verdict, or all with the known ones last."""
    kept = [Row(**row) for row in rows if not verdict or row["verdict"] == verdict]
    return sorted(kept, key=lambda row: row.verdict == Verdict.KNOWN)
