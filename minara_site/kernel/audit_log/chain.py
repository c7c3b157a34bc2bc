"""The hash chain over the audit log: what a seal covers, and the digest of it.

A seal's digest is SHA-256 over the digest of the seal before it (nothing for the first) and one line per entry, in the
order of their ids: the canonical JSON of every column. So an entry that is changed, taken out or slipped in later
breaks its seal, and a seal that is changed breaks the next one. Whoever can write the database could compute the whole
chain anew: that shows only beside a digest that was noted elsewhere. Source: decisions (hash chain).
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.db.models import QuerySet

from minara_site.kernel.audit_log.models import AuditEntry, AuditSeal

MAX_PER_SEAL = 1_000  # the page checks the newest batch whenever it is opened
READ_AT_ONCE = 200  # one entry may list thousands of rows
COLUMNS = ("id", "at", "actor", "owner_id", "tool_call", "reasoning", "request_id", "details")


@dataclass(frozen=True, slots=True)
class Link:
    """Some entries in a row, digested after what stood before them: how many, the last of them, the digest."""

    entries: int
    last_id: int
    sha256: str


START = Link(entries=0, last_id=0, sha256="")


def link_of(seal: AuditSeal | None) -> Link:
    """Return what a seal says of itself; without a seal, the beginning of the chain."""
    return Link(seal.entries, seal.last_id, seal.sha256) if seal else START


def digest(before: str, entries: "QuerySet[AuditEntry]") -> Link:
    """Return the link that these entries make after the digest `before`, reading few at a time."""
    sha, count, last_id = hashlib.sha256(before.encode()), 0, 0
    for row in entries.values_list(*COLUMNS).iterator(chunk_size=READ_AT_ONCE):
        sha.update(canonical(row))
        count, last_id = count + 1, row[0]
    return Link(count, last_id, sha.hexdigest())


def canonical(row: tuple[Any, ...]) -> bytes:
    """Return one entry as a line: sorted keys, no blanks, the time in UTC, ASCII only."""
    columns = dict(zip(COLUMNS, row, strict=True))
    columns["at"] = columns["at"].astimezone(UTC).isoformat(timespec="microseconds")
    return json.dumps(columns, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def entries_after(last_id: int) -> "QuerySet[AuditEntry]":
    """Return the entries behind a place in the chain, in its order; all of them behind its beginning."""
    entries = AuditEntry.objects.order_by("id")
    return entries.filter(id__gt=last_id) if last_id else entries


def newest_seal() -> AuditSeal | None:
    """Return the end of the chain."""
    return AuditSeal.objects.order_by("-last_id").first()


def unsealed_entries() -> "QuerySet[AuditEntry]":
    """Return the entries that no seal covers yet."""
    return entries_after(link_of(newest_seal()).last_id)
