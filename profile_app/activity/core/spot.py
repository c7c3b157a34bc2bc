"""A swap or transfer as the gateway says it. Source: S1 (`external_spot_activities`), trades.md. Pure."""

import json
import re
from collections.abc import Iterable
from typing import Any

from minara_site.kernel.market.core.values import UnusableError, read_amount
from profile_app.activity.core.fills import MAX_RAW_CHARS, UNREADABLE, UnreadableRow, fields_of, read_time, word_of

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


def read_activities(rows: Iterable[Any], *, latest_ms: int) -> tuple[list[dict[str, Any]], int]:
    """Return the activities of a page by their columns, the oldest first, and how many rows were unreadable.

    Tokens, amount and value are None where they are not said. Raises UnreadableRow for a row without its hash or its
    time: such a page is refused.
    """
    found, unreadable = [], 0
    for row in rows:
        said = fields_of(row, FIELDS)
        if not said["tx_hash"] or not said["ts_ms"]:
            raise UnreadableRow("unreadable: tx_hash or ts_ms")
        if not HASH.fullmatch(said["tx_hash"]):
            unreadable += 1
            continue
        try:
            activity = {
                "tx_hash": said["tx_hash"],
                "ts_ms": read_time(said["ts_ms"], latest_ms),
                "type": word_of(said["type"], WORD) or UNREADABLE,
                "from_token": word_of(said["from_token"], TOKEN) or None,
                "to_token": word_of(said["to_token"], TOKEN) or None,
                "amount": f"{read_amount(said['amount']).normalize():f}"[:80] if said["amount"] else None,
                "value_usd": read_amount(said["value_usd"]) if said["value_usd"] else None,
                "status": word_of(said["status"], WORD) or UNREADABLE,
                "raw_json": json.dumps(row, separators=(",", ":"))[:MAX_RAW_CHARS],
            }
        except (UnreadableRow, UnusableError):
            unreadable += 1
        else:
            found.append(activity)
    return sorted(found, key=lambda each: each["ts_ms"]), unreadable
