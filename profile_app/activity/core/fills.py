"""Fills, funding and swaps as exchange and gateway say them: read, named for good, never guessed. Pure.

Sources: `trades.md`, S1 (`external_spot_activities`).

Numbers are text at the exchange; they are compared and digested as numbers, so that 65200.0 is 65200. A field that is
absent is empty, which is not 0.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from minara_site.kernel.core.symbols import asset_of_market
from minara_site.kernel.market.core.values import UnusableError, read_amount, read_price

SYMBOL = re.compile(r"[A-Za-z0-9@][A-Za-z0-9:/@._+-]{0,39}")
WORD = re.compile(r"[A-Za-z][A-Za-z >()/-]{0,39}")
ORDER = re.compile(r"[A-Za-z0-9_.:-]{1,40}")
SIDE = re.compile(r"[^\W\d_]{1,8}")
LIQUIDATED = re.compile(r"Liquidated (Cross|Isolated) (Long|Short)|.*Borrow Liquidation")
TX_HASH = re.compile(r"[A-Za-z0-9:_-]{8,120}")
TOKEN = re.compile(r"[\w.$₮/+-]{1,40}")
KIND = re.compile(r"[A-Za-z][A-Za-z0-9_ -]{0,39}")
HASH = re.compile(r"(?=0*[1-9a-f])[0-9a-f]{8,64}")
"""A hash that is not all zeros."""
UNREADABLE = "?"
"""What stands for a symbol or a word that is none: text of strangers goes no further than the raw row."""
DAY_MS = 86_400_000
MAX_RAW_CHARS, MAX_DIGITS = 4_000, 60
MAX_USD = Decimal(10) ** 15
"""No fill is worth, wins or costs so much: sums of days must fit into their columns."""

FIELDS: dict[str, tuple[str, ...]] = {
    "coin": ("symbol",),
    "px": ("price",),
    "sz": ("size",),
    "side": (),
    "time": ("ts_ms", "tsMs"),
    "startPosition": ("start_position",),
    "dir": (),
    "closedPnl": ("closed_pnl",),
    "hash": (),
    "oid": (),
    "fee": (),
    "feeToken": ("fee_token",),
    "tid": (),
}
"""The fields of a fill by the exchange's names, each with S1's where it differs, in both spellings (the gateway)."""
ACTIVITY_FIELDS: dict[str, tuple[str, ...]] = {
    "tx_hash": ("txHash",),
    "ts_ms": ("tsMs",),
    "type": (),
    "from_token": ("fromToken",),
    "to_token": ("toToken",),
    "amount": (),
    "value_usd": ("valueUsd",),
    "status": (),
}
DIGESTED = ("coin", "side", "px", "sz", "time", "dir", "startPosition", "closedPnl", "oid")


class UnreadableRow(ValueError):
    """A row that cannot be read; its text is a code with the field that is wrong."""


class Fill(NamedTuple):
    """One execution, by its columns. `fill_uid` names it for good within its wallet, `digest` says what it said.

    `size` is over 0; `start_position` is signed, None where it is not said. `fee` is negative for a rebate, and 0 with
    no `fee_token` where it is not known. `closed_pnl` is before fees.
    """

    fill_uid: str
    digest: str
    oid: str
    ts_ms: int
    symbol: str
    asset: str | None
    side: str
    dir: str
    size: Decimal
    price: Decimal
    fee: Decimal
    fee_token: str
    closed_pnl: Decimal
    start_position: Decimal | None
    is_liquidation: bool
    raw_json: str


def read_fills(
    rows: Iterable[Any],
    *,
    wallet: str,
    latest_ms: int,
) -> tuple[list[Fill], list[int]]:
    """Return the fills of whole milliseconds in their order, and the times of unreadable rows, 0 for such a time.

    `wallet` is the address in lower case. Fills that say the same are numbered. Raises UnreadableRow for a row that has
    no time: then no cursor can be trusted.
    """
    fills, unreadable, places = list[Fill](), list[int](), Counter[str]()
    for row in rows:
        said = fields_of(row, FIELDS)
        if not said["time"]:
            raise UnreadableRow("unreadable: time")
        try:
            fill = read_fill(row, said, wallet=wallet, latest_ms=latest_ms)
        except (UnreadableRow, UnusableError):
            unreadable.append(time_or_zero(said["time"], latest_ms))
            continue
        digest, place = fill.digest, places[fill.digest]
        places[digest] += 1
        if place:
            mark = f"#{place}"
            uid = fill.fill_uid if fill.fill_uid.isdecimal() else fill.fill_uid + mark
            fill = fill._replace(digest=digest + mark, fill_uid=uid)
        fills.append(fill)
    return fills, unreadable


def fields_of(row: Any, fields: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return what a row says in these fields, each by its name or another one, as text; what is absent is empty."""
    found: Any = row if isinstance(row, dict) else {}
    said = {}
    for name, others in fields.items():
        value = next((found[each] for each in (name, *others) if found.get(each) is not None), "")
        said[name] = "" if isinstance(value, bool | dict | list) else str(value).strip()
    return said


def read_fill(
    row: Any,
    said: Mapping[str, str],
    *,
    wallet: str,
    latest_ms: int,
) -> Fill:
    """Return the fill that a row says. Raises UnreadableRow or UnusableError."""
    symbol, digest = word_of(said["coin"], SYMBOL) or UNREADABLE, digest_of(said)
    word, position = word_of(said["dir"], WORD), said["startPosition"]
    liquidation = row.get("liquidation")
    named = liquidation.get("liquidatedUser") if isinstance(liquidation, dict) else None
    size, price = read_price(said["sz"]), read_price(said["px"])
    fee, closed_pnl = read_amount(said["fee"] or "0"), read_amount(said["closedPnl"] or "0")
    if max(size * price, abs(fee), abs(closed_pnl)) >= MAX_USD:
        raise UnreadableRow("unreadable: amount")
    return Fill(
        fill_uid=uid_of(said, digest),
        digest=digest,
        oid=said["oid"] if ORDER.fullmatch(said["oid"]) else "",
        ts_ms=read_time(said["time"], latest_ms),
        symbol=symbol,
        asset=asset_of_market(symbol),
        side=word_of(said["side"], SIDE) or UNREADABLE,
        dir=word,
        size=size,
        price=price,
        fee=fee,
        # before there was a field for the token of fees, they were in USDC
        fee_token=word_of(said["feeToken"] or "USDC", SYMBOL) if said["fee"] else "",
        closed_pnl=closed_pnl,
        start_position=read_amount(position) if position else None,
        # the mark stands on the fills of both parties
        is_liquidation=named.lower() == wallet if isinstance(named, str) else bool(LIQUIDATED.fullmatch(word)),
        raw_json=json.dumps(row, separators=(",", ":"))[:MAX_RAW_CHARS],
    )


def read_payments(rows: Iterable[Any], *, latest_ms: int) -> list[dict[str, Any]]:
    """Return payments of funding by their columns. Raises UnreadableRow where there is one that cannot be read."""
    try:
        return [
            {
                "ts_ms": read_time(row["time"], latest_ms),
                "symbol": word_of(str(row["delta"]["coin"]), SYMBOL) or UNREADABLE,
                "amount_usd": read_amount(row["delta"]["usdc"]),
            }
            for row in rows
        ]
    except (KeyError, TypeError, UnusableError):
        raise UnreadableRow("unreadable: delta") from None


def read_activities(rows: Iterable[Any], *, latest_ms: int) -> tuple[list[dict[str, Any]], list[int]]:
    """Return activities by their columns, the oldest first, and the times of unreadable rows, 0 for such a time.

    Tokens, amount and value are None where they are not said. Raises UnreadableRow for a row without its hash or its
    time: such a page is refused.
    """
    found, unreadable = [], list[int]()
    for row in rows:
        said = fields_of(row, ACTIVITY_FIELDS)
        if not said["tx_hash"] or not said["ts_ms"]:
            raise UnreadableRow("unreadable: tx_hash or ts_ms")
        if not TX_HASH.fullmatch(said["tx_hash"]):
            unreadable.append(time_or_zero(said["ts_ms"], latest_ms))
            continue
        try:
            activity = {
                "tx_hash": said["tx_hash"],
                "ts_ms": read_time(said["ts_ms"], latest_ms),
                "type": word_of(said["type"], KIND) or UNREADABLE,
                "from_token": word_of(said["from_token"], TOKEN) or None,
                "to_token": word_of(said["to_token"], TOKEN) or None,
                "amount": f"{read_amount(said['amount']).normalize():f}"[:80] if said["amount"] else None,
                "value_usd": read_amount(said["value_usd"]) if said["value_usd"] else None,
                "status": word_of(said["status"], KIND) or UNREADABLE,
                "raw_json": json.dumps(row, separators=(",", ":"))[:MAX_RAW_CHARS],
            }
        except (UnreadableRow, UnusableError):
            unreadable.append(time_or_zero(said["ts_ms"], latest_ms))
        else:
            found.append(activity)
    return sorted(found, key=lambda each: each["ts_ms"]), unreadable


def read_time(value: Any, latest_ms: int) -> int:
    """Return a time in whole milliseconds. Raises UnreadableRow or UnusableError."""
    time = read_amount(value, "time")
    if time % 1 or not 0 < time <= latest_ms:
        raise UnreadableRow("unreadable: time")
    return int(time)


def time_or_zero(value: str, latest_ms: int) -> int:
    """Return a time in whole milliseconds, 0 where it cannot be read."""
    try:
        return read_time(value, latest_ms)
    except (UnreadableRow, UnusableError):
        return 0


def word_of(text: str, pattern: re.Pattern[str]) -> str:
    """Return a word as it was sent, a mark where it is none, nothing where nobody says one."""
    return text if not text or pattern.fullmatch(text) else UNREADABLE


def plain(text: str) -> str:
    """Return a number as it is digested, whatever its spelling; any other text as it is."""
    try:
        number = Decimal(text).normalize()
    except ArithmeticError:
        return text
    if abs(number.adjusted()) > MAX_DIGITS:
        return text
    return f"{number:f}" if number else "0"


def digest_of(said: Mapping[str, str]) -> str:
    """Return the SHA-1 of what a fill says it was, as 40 hex digits."""
    parts = "\x1f".join(plain(said[name]) for name in DIGESTED)
    return hashlib.sha1(parts.encode(errors="surrogatepass"), usedforsecurity=False).hexdigest()


def uid_of(said: Mapping[str, str], digest: str) -> str:
    """Return what names a fill within its wallet: the exchange's number, else its hash and the digest."""
    tid, mark = plain(said["tid"]), said["hash"].lower().removeprefix("0x")
    if tid.isdecimal() and tid != "0" and len(tid) <= MAX_DIGITS:
        return tid
    return f"0x{mark}:{digest}" if HASH.fullmatch(mark) else digest


def is_spot(symbol: str) -> bool:
    """Say whether a market is spot: an index or a pair at the exchange."""
    return symbol.startswith("@") or "/" in symbol
