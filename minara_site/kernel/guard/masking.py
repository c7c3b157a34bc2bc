"""Secrets in texts of another owner, masked wherever they are shown; what is stored stays as it is. Source: decisions.

An operator judges what kind of secret it is, not its value; its owner reads it.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, TypeVar

from minara_site.kernel.core.excerpt import Segment
from minara_site.kernel.core.nested import leaves
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Finding, Reason

SECRET_CHARS_SHOWN = 3

Row = TypeVar("Row")


def mask_secrets(text: str, findings: Iterable[Finding]) -> str:
    """Return the text with all but the beginning of each secret blanked; every character keeps its place."""
    for found in findings:
        if found.reason is Reason.SECRET:
            start = found.start + SECRET_CHARS_SHOWN
            text = text[:start] + "•" * max(found.end - start, 0) + text[max(found.end, start) :]
    return text


def mask(text: str) -> str:
    """Return the text with the secrets masked that today's rules find in it, whatever was decided about it."""
    return mask_secrets(text, guard.RULES.judge(text, most=len(text)).findings)


def mask_value(key: str, value: str) -> str:
    """Return a named value with its secrets masked; some are recognised by the name before them."""
    return mask(f"{key}: {value}").removeprefix(f"{key}: ")


def mask_segments(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """Return the pieces of a text with the secrets of the whole masked."""
    pieces = list(segments)
    text, place, masked = mask("".join(part for part, _is_marked in pieces)), 0, []
    for part, is_marked in pieces:
        masked.append((text[place : place + len(part)], is_marked))
        place += len(part)
    return tuple(masked)


def mask_nested(data: Any) -> Any:
    """Return nested data, at most a few levels deep, with the secrets in its texts masked; without one as it is."""
    findings = guard.judge("\n".join(leaves(data))).findings
    return mask_leaves("", data) if any(found.reason is Reason.SECRET for found in findings) else data


def mask_leaves(name: str, value: Any) -> Any:
    """Return nested data with the secrets in its texts masked; names count as in `mask_value`."""
    if isinstance(value, Mapping):
        return {key: mask_leaves(key, part) for key, part in value.items()}
    if isinstance(value, list):
        return [mask_leaves(name, part) for part in value]
    return mask_value(name, value) if isinstance(value, str) else value


def masked_for(reader: Any, row: Row) -> Row:
    """Return an owned row as this person may see it: of another owner a copy, not to be stored, masked by the row."""
    if row.owner_id == reader.pk:  # type: ignore[attr-defined]
        return row
    shown = copy(row)
    shown.mask()  # type: ignore[attr-defined]
    return shown
