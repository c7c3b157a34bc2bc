"""A block in which this process's connection only reads: whatever a source tries to write is refused."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

READS = re.compile(
    r"\s*(?:SELECT|WITH|VALUES|EXPLAIN|SHOW|PRAGMA|SET|RESET|SAVEPOINT|RELEASE|ROLLBACK|BEGIN)\b", re.IGNORECASE
)
WRITES = re.compile(r"\b(?:INSERT\s+INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE)\b", re.IGNORECASE)


class WriteRefused(Exception):
    """A source tried to write."""


@contextmanager
def only_reading() -> Iterator[None]:
    """Refuse every statement of this block that is no read. Raises WriteRefused out of the statement."""
    with connections[DEFAULT_DB_ALIAS].execute_wrapper(refuse_writes):
        yield


def refuse_writes(
    execute: Callable[..., Any],
    sql: Any,
    params: Any,
    many: bool,  # noqa: FBT001 - Django calls it so
    context: dict[str, Any],
) -> Any:
    """Run a statement that reads."""
    text = sql if isinstance(sql, str) else sql.as_string(context["connection"].connection)
    if not is_reading(text):
        raise WriteRefused("A source of evidence may only read.")
    return execute(sql, params, many, context)


@lru_cache(maxsize=256)
def is_reading(statement: str) -> bool:
    """Say whether a statement only reads. Sources ask the same few, of fixed text, for every decision."""
    return READS.match(statement) is not None and WRITES.search(statement) is None
