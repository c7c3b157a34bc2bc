"""A swap or transfer as the gateway says it. Source: S1 (`external_spot_activities`), trades.md. Pure."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from minara_site.kernel.market.core.values import UnusableError, read_amount
from profile_app.activity.core.fills import MAX_RAW_CHARS, UNREADABLE, UnreadableRow

FIELDS = {
    "tx_hash": ("tx_hash", "txHash"),
    "ts_ms": ("ts_ms", "tsMs"),
    "type": ("type",),
    "from_token": ("from_token", "fromToken"),
    "to_token": ("to_token", "toToken"),
    "amount": ("amount",),
    "value_usd": ("value_usd", "valueUsd"),
    "status": ("status",),
}
HASH = re.compile(r"[A-Za-z0-9:_-]{8,120}")
TOKEN = re.compile(r"[\w.$₮/+-]{1,40}")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_ -]{0,39}")


@dataclass(frozen=True, slots=True)
class Activity:
    """What happened on a chain. Tokens and the value are None where they are not said."""

    tx_hash: str
    ts_ms: int
    type: str
    from_token: str | None
    to_token: str | None
    amount: str | None
    value_usd: Decimal | None
    status: str
    raw: str


def read_activities(rows: Iterable[Any], *, latest_ms: int) -> tuple[list[Activity], int]:
    """Return the activities of a page, the oldest first, and how many rows were unreadable.

    Raises UnreadableRow for a row without its hash or its time: such a page is refused.
    """
    found, unreadable = [], 0
    for row in rows:
        fields: Mapping[str, Any] = row if isinstance(row, dict) else {}
        said = {
            name: next((fields[each] for each in names if fields.get(each) is not None), None)
            for name, names in FIELDS.items()
        }
        if said["tx_hash"] is None or said["ts_ms"] is None:
            raise UnreadableRow("tx_hash or ts_ms")
        try:
            found.append(read_activity(row, said, latest_ms=latest_ms))
        except (UnreadableRow, UnusableError):
            unreadable += 1
    return sorted(found, key=lambda each: each.ts_ms), unreadable


def read_activity(row: Any, said: Mapping[str, Any], *, latest_ms: int) -> Activity:
    """Return the activity that a row says. Raises UnreadableRow or UnusableError."""
    time = read_amount(said["ts_ms"], "ts_ms")
    if time != int(time) or not 0 < time <= latest_ms or not HASH.fullmatch(str(said["tx_hash"])):
        raise UnreadableRow("ts_ms or tx_hash")
    amount, value = said["amount"], said["value_usd"]
    return Activity(
        tx_hash=str(said["tx_hash"]),
        ts_ms=int(time),
        type=word_of(said["type"], WORD) or UNREADABLE,
        from_token=word_of(said["from_token"], TOKEN),
        to_token=word_of(said["to_token"], TOKEN),
        amount=None if amount is None else f"{read_amount(amount, 'amount').normalize():f}"[:80],
        value_usd=None if value is None else read_amount(value, "value_usd"),
        status=word_of(said["status"], WORD) or UNREADABLE,
        raw=json.dumps(row, separators=(",", ":"))[:MAX_RAW_CHARS],
    )


def word_of(value: Any, pattern: re.Pattern[str]) -> str | None:
    """Return a word as it was sent, a mark where it is none, None where nobody says one."""
    if value is None:
        return None
    return str(value) if pattern.fullmatch(str(value)) else UNREADABLE
