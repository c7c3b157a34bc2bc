"""What the doctor says: sections of lines, each with how good it is. The anonymous form holds buckets and no names."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

Text = Any
"""A text, or one that is translated when it is shown."""

BUCKETS = (
    (0, "0"),
    (9, "1-9"),
    (99, "10-99"),
    (999, "100-999"),
    (9_999, "1k-9k"),
)
ABOVE = "10k+"

REVIEW_WAITING = "review_waiting"  # the line that the side bar counts too
FIX = "doctor.fix"
"""The job that applies fixes, and shows what they would do."""


class HealthState(StrEnum):
    """How good something is, the worst last."""

    OK = "ok"
    WATCH = "watch"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at. `name` is for programs and never changes.

    What was found is a count, words, or names with counts. `is_exact` is False where counting stopped. Words leave
    the instance only when they are `is_public`: a version, never a path. `hint` says what to do.
    """

    name: str
    label: Text
    count: int | None = None
    words: Text = ""
    state: HealthState = HealthState.OK
    hint: Text = ""
    names: tuple[tuple[str, int], ...] = ()
    is_exact: bool = True
    is_public: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Lines that belong together."""

    name: str
    title: Text
    lines: tuple[Line, ...]

    @property
    def state(self) -> HealthState:
        """The worst of its lines."""
        return worst(line.state for line in self.lines)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that the doctor looked at."""

    at: datetime
    sections: tuple[Section, ...]

    @property
    def state(self) -> HealthState:
        """The worst of its sections."""
        return worst(section.state for section in self.sections)

    def count(self, name: str) -> int | None:
        """Return the count of a line, None when nobody could read it."""
        return next(
            (line.count for section in self.sections for line in section.lines if line.name == name),
            None,
        )


def worst(states: Iterable[HealthState]) -> HealthState:
    """Return the worst state, good when there is none."""
    order = list(HealthState)
    return max(states, key=order.index, default=HealthState.OK)


def bucket(count: int) -> str:
    """Return the range that a count lies in, wide enough to be shared."""
    return next((name for most, name in BUCKETS if count <= most), ABOVE)


def report_record(report: Report) -> dict[str, Any]:
    """Return a report for programs, with every count and name."""
    sections = [section_record(section, [line_record(line) for line in section.lines]) for section in report.sections]
    return {
        "state": report.state,
        "anonymous": False,
        "at": report.at,
        "sections": sections,
    }


def anonymous_record(report: Report) -> dict[str, Any]:
    """Return a report that can be shared: buckets for counts; no names, keys, entities, paths or times."""
    sections = [
        section_record(
            section,
            [anonymous_line(line) for line in section.lines],
        )
        for section in report.sections
    ]
    return {"state": report.state, "anonymous": True, "sections": sections}


def section_record(section: Section, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a section with its lines."""
    return {"name": section.name, "state": section.state, "lines": lines}


def line_record(line: Line) -> dict[str, Any]:
    """Return a line with what was found."""
    record: dict[str, Any] = {"name": line.name, "state": line.state}
    if line.count is not None:
        record |= {"count": line.count, "is_exact": line.is_exact}
    if line.words:
        record["words"] = str(line.words)
    if line.names:
        record["names"] = [{"name": name, "count": count} for name, count in line.names]
    return record | ({"hint": str(line.hint)} if line.hint else {})


def anonymous_line(line: Line) -> dict[str, Any]:
    """Return a line that tells nothing of whom it is about."""
    record: dict[str, Any] = {"name": line.name, "state": line.state}
    if line.count is not None:
        record["count"] = bucket(line.count)
    return record | ({"words": str(line.words)} if line.words and line.is_public else {})


def report_lines(record: dict[str, Any]) -> Iterator[str]:
    """Yield a report of either form as text for a terminal."""
    for section in record["sections"]:
        yield f"{section['name'].replace('_', ' ')}: {section['state']}"
        for line in section["lines"]:
            yield f"  {line['state']:<5} {line['name'].replace('_', ' ')}{found_label(line)}"
            if "hint" in line:
                yield f"        {line['hint']}"


def found_label(line: dict[str, Any]) -> str:
    """Return what was found as it stands behind the name of a line."""
    parts = []
    if "count" in line:
        parts.append(str(line["count"]) if line.get("is_exact", True) else f"more than {line['count']}")
    if "words" in line:
        parts.append(line["words"])
    parts += [f"{each['name']} {each['count']}" for each in line.get("names", ())]
    return f": {', '.join(parts)}" if parts else ""
