"""The audit log as a file: streamed in slices, so that neither memory nor a long read grows with it (trust W-22)."""

import csv
import json
from collections.abc import Iterator
from datetime import UTC
from enum import StrEnum
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from minara_site.kernel.audit_log.chain import COLUMNS
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.web.keyset import Order, paginate

SLICE = 500
FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r")


class Format(StrEnum):
    """What a file is written as."""

    CSV = "csv"
    JSON = "json"


class Echo:
    """A file that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


def export_response(
    entries: "QuerySet[AuditEntry]",
    kind: Format,
    *,
    order: Order,
) -> StreamingHttpResponse:
    """Return the file, times in UTC, newest first."""
    records = (
        {name: getattr(entry, name) for name in COLUMNS} | {"at": entry.at.astimezone(UTC).isoformat()}
        for entry in walk(entries, order)
    )
    lines, media = (csv_lines(records), "text/csv") if kind is Format.CSV else (json_lines(records), "application/json")
    response = StreamingHttpResponse(lines, content_type=f"{media}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="audit-log.{kind}"'
    return response


def walk(entries: "QuerySet[AuditEntry]", order: Order) -> Iterator[AuditEntry]:
    """Yield the entries slice by slice; what is written meanwhile shifts nothing."""
    cursor = None
    while True:
        slice_ = paginate(entries, order, cursor=cursor, limit=SLICE, scope="export")
        yield from slice_.items
        cursor = slice_.next_cursor
        if cursor is None:
            return


def csv_lines(records: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a CSV file."""
    writer = csv.writer(Echo())
    yield writer.writerow(COLUMNS)
    for record in records:
        details = json.dumps(record["details"], ensure_ascii=False)
        yield writer.writerow([safe_cell(value) for value in (record | {"details": details}).values()])


def safe_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_BEGINS) else value


def json_lines(records: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a JSON array, one entry each."""
    separator = "[\n"
    for record in records:
        yield separator + json.dumps(record, ensure_ascii=False)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"
