"""Secrets in texts of somebody else, masked wherever those are shown; what is stored stays as it is. Source: decisions.

An operator judges what kind of secret it is, not what it says; its owner reads it.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from memory_app.memories.core import leaves
from memory_app.memories.models import Memory
from memory_app.memories.selectors import HistoryEntry
from memory_app.roles.models import RoleMemory
from memory_app.search.core.highlight import Segment
from memory_app.search.selectors import Hit
from memory_app.user_profile.models import UserProfileEntry, guarded_text
from minara_site.access.models import User
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Finding, Reason

SECRET_CHARS_SHOWN = 3


def mask_secrets(text: str, findings: Iterable[Finding]) -> str:
    """Return the text with all but the beginning of each secret blanked; every character keeps its place."""
    for found in findings:
        if found.reason is Reason.SECRET:
            start = found.start + SECRET_CHARS_SHOWN
            text = text[:start] + "•" * max(found.end - start, 0) + text[max(found.end, start) :]
    return text


def mask(text: str) -> str:
    """Return the text with the secrets masked that today's rules find in it, whatever was decided about it."""
    return mask_secrets(text, guard.judge(text).findings)


def memory_for(reader: User, memory: Memory) -> Memory:
    """Return a memory as this person may see it; of somebody else's a copy that is not to be stored."""
    if memory.owner_id == reader.pk:
        return memory
    shown, text = copy(memory), mask(memory.guarded_text)
    shown.content = text[: len(memory.content)]
    shown.fact_type = text[len(memory.content) + 1 :][: len(memory.fact_type)]
    return shown


def version_for(reader: User, memory: Memory, entry: HistoryEntry) -> HistoryEntry:
    """Return a version of this memory as this person may see it."""
    if memory.owner_id == reader.pk:
        return entry
    before = None if entry.before is None else mask(entry.before)
    return replace(entry, content=mask(entry.content), fact_type=mask(entry.fact_type), before=before)


def decision_for(reader: User, entry: RoleMemory) -> RoleMemory:
    """Return a decision of a role as this person may see it; of somebody else's a copy that is not to be stored."""
    if entry.owner_id == reader.pk:
        return entry
    shown = copy(entry)
    shown.decision, shown.outcome_note = mask(entry.decision), mask(entry.outcome_note)
    shown.narrative, shown.lesson = mask(entry.narrative), mask(entry.lesson)
    if has_secret("\n".join(leaves(entry.inputs))):
        shown.inputs = mask_leaves("", entry.inputs)
    if has_secret("\n".join(leaves(entry.evidence))):
        shown.evidence = mask_leaves("", entry.evidence)
    return shown


def has_secret(text: str) -> bool:
    """Say whether today's rules find a secret in the text."""
    return any(found.reason is Reason.SECRET for found in guard.judge(text).findings)


def mask_leaves(name: str, value: Any) -> Any:
    """Return nested data, at most a few levels deep, with the secrets in its texts masked; names may tell them."""
    if isinstance(value, Mapping):
        return {key: mask_leaves(key, part) for key, part in value.items()}
    if isinstance(value, list):
        return [mask_leaves(name, part) for part in value]
    return mask_value(name, value) if isinstance(value, str) else value


def mask_value(key: str, value: str) -> str:
    """Return a value of a profile with its secrets masked; some are told by the name that stands before them."""
    return mask(guarded_text(key, value)).removeprefix(f"{key}: ")


def entry_for(reader: User, entry: UserProfileEntry) -> UserProfileEntry:
    """Return an entry of a profile as this person may see it; of somebody else's a copy that is not to be stored."""
    if entry.owner_id == reader.pk:
        return entry
    shown = copy(entry)
    shown.value = mask_value(entry.key, entry.value)
    return shown


def hit_for(reader: User, hit: Hit) -> Hit:
    """Return what a search found as this person may see it."""
    if hit.owner_id == reader.pk:
        return hit
    segments: list[Segment] = []
    text, place = mask(hit.content), 0
    for part, is_found in hit.highlights:
        segments.append((text[place : place + len(part)], is_found))
        place += len(part)
    return replace(hit, content=text, highlights=tuple(segments))
