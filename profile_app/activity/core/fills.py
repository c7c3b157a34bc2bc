"""One fill as the exchange or the gateway says it: read, named for good, never guessed. Source: `trades.md`. Pure.

Numbers are text at the exchange; they are compared and digested as numbers, so that 65200.0 is 65200. A field that is
absent is empty, which is not 0.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from minara_site.kernel.core.symbols import asset_of_market
from minara_site.kernel.market.core.values import UnusableError, read_amount, rounded

USD_TOKENS = frozenset({"USDC", "USD"})
SPOT_DIRS = frozenset({"Buy", "Sell", "Spot Dust Conversion"})
OPENING = {"Open Long": 1, "Open Short": -1}
CLOSING = {"Close Long": 1, "Close Short": -1}
FLIPS = {"Long > Short": 1, "Short > Long": -1}
LIQUIDATED = re.compile(r"Liquidated (?:Cross|Isolated) (Long|Short)")
LOOSE_CLOSING = frozenset({"Auto-Deleveraging", "Settlement", "Net Child Vaults"})
"""Closings whose words do not say of which side; the sign of the position before them does."""
SYMBOL = re.compile(r"[A-Za-z0-9@][A-Za-z0-9:/@._+-]{0,39}")
WORD = re.compile(r"[A-Za-z][A-Za-z >()/-]{0,39}")
ORDER = re.compile(r"[A-Za-z0-9_.:-]{1,40}")
UNREADABLE = "?"
"""What stands for a symbol or a word that is none: text of strangers goes no further than the raw row."""
DAY_MS = 86_400_000
MAX_RAW_CHARS = 4_000
MAX_USD = Decimal(10) ** 15
"""No fill is worth, wins or costs so much: sums of days must fit into their columns."""
MAX_NUMBER_DIGITS = 60

FIELDS = {
    "coin": ("coin", "symbol"),
    "px": ("px", "price"),
    "sz": ("sz", "size"),
    "side": ("side",),
    "time": ("time", "ts_ms", "tsMs"),
    "startPosition": ("startPosition", "start_position"),
    "dir": ("dir",),
    "closedPnl": ("closedPnl", "closed_pnl"),
    "hash": ("hash",),
    "oid": ("oid",),
    "fee": ("fee",),
    "feeToken": ("feeToken", "fee_token"),
    "tid": ("tid",),
}
"""How each field is called, by the exchange first, then as S1's columns in both spellings (the gateway)."""
DIGESTED = ("coin", "side", "px", "sz", "time", "dir", "startPosition", "closedPnl", "oid")
NUMBERS = frozenset({"px", "sz", "time", "startPosition", "closedPnl", "oid"})


class UnreadableRow(ValueError):
    """A row that says no fill; its text is which field is wrong."""


@dataclass(frozen=True, slots=True)
class Fill:
    """One execution. `uid` names it for good within its wallet, `digest` says what it said (trades.md, `fill_uid`).

    `size` is over 0; `start_position` is signed, None where it is not said. `fee` is negative for a rebate, and 0 with
    no `fee_token` where it is not known. `closed_pnl` is before fees.
    """

    uid: str
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
    raw: str

    @property
    def has_tid(self) -> bool:
        """Whether the exchange itself numbered it."""
        return self.uid.isdecimal()


def read_fills(
    rows: Iterable[Any],
    *,
    wallet: str,
    latest_ms: int,
    names: Mapping[str, str] = {},
) -> tuple[list[Fill], int]:
    """Return the fills of a page in its order, and how many rows were unreadable.

    `wallet` is the address in lower case, `names` are those of spot markets by their index (`@107`). Raises
    UnreadableRow for a row that has no time: then no cursor can be trusted.
    """
    fills, unreadable = [], 0
    for row in rows:
        said = fields_of(row)
        try:
            fills.append(read_fill(row, said, wallet=wallet, latest_ms=latest_ms, names=names))
        except (UnreadableRow, UnusableError):
            if not isinstance(row, dict) or not said["time"]:
                raise UnreadableRow("time") from None
            unreadable += 1
    return number_equal(fills), unreadable


def fields_of(row: Any) -> dict[str, str]:
    """Return what a row says by the exchange's names, as text; what is absent is empty."""
    found: Any = row if isinstance(row, dict) else {}
    said = {}
    for name, spellings in FIELDS.items():
        value = next((found[each] for each in spellings if found.get(each) is not None), "")
        said[name] = "" if isinstance(value, bool | dict | list) else str(value).strip()
    return said


def read_fill(
    row: Any,
    said: Mapping[str, str],
    *,
    wallet: str,
    latest_ms: int,
    names: Mapping[str, str],
) -> Fill:
    """Return the fill that a row says. Raises UnreadableRow or UnusableError."""
    numbers = {name: read_amount(said[name], name) if said[name] else None for name in ("px", "sz", "time")}
    price, size, time = numbers["px"], numbers["sz"], numbers["time"]
    if price is None or size is None or time is None or price <= 0 or size <= 0:
        raise UnreadableRow("px or sz")
    if time != int(time) or not 0 < time <= latest_ms:
        raise UnreadableRow("time")
    symbol = said["coin"] if SYMBOL.fullmatch(said["coin"]) else UNREADABLE
    word = said["dir"] if WORD.fullmatch(said["dir"]) else UNREADABLE if said["dir"] else ""
    fee = read_amount(said["fee"], "fee") if said["fee"] else None
    pnl = read_amount(said["closedPnl"], "closedPnl") if said["closedPnl"] else Decimal(0)
    if max(price * size, abs(fee or Decimal(0)), abs(pnl)) >= MAX_USD:
        raise UnreadableRow("amount")
    digest = digest_of(said)
    liquidation = row.get("liquidation")
    return Fill(
        uid=uid_of(said, digest),
        digest=digest,
        oid=said["oid"] if ORDER.fullmatch(said["oid"]) else "",
        ts_ms=int(time),
        symbol=symbol,
        asset=asset_of_market(names.get(symbol, symbol)),
        side=said["side"] if said["side"].isalpha() and len(said["side"]) <= 8 else UNREADABLE,  # noqa: PLR2004 - its column
        dir=word,
        size=size,
        price=price,
        fee=fee or Decimal(0),
        fee_token="" if fee is None else fee_token_of(said["feeToken"]),
        closed_pnl=pnl,
        start_position=read_amount(said["startPosition"], "startPosition") if said["startPosition"] else None,
        is_liquidation=is_own_liquidation(liquidation, word, wallet),
        raw=json.dumps(row, separators=(",", ":"))[:MAX_RAW_CHARS],
    )


def fee_token_of(text: str) -> str:
    """Return in which token a fee is: before there was a field for it, fees were in USDC."""
    if not text:
        return "USDC"
    return text if SYMBOL.fullmatch(text) else UNREADABLE


def is_own_liquidation(liquidation: Any, word: str, wallet: str) -> bool:
    """Say whether it was this wallet that was liquidated: the mark stands on the fills of both parties."""
    named = liquidation.get("liquidatedUser") if isinstance(liquidation, dict) else None
    if isinstance(named, str):
        return named.lower() == wallet
    return LIQUIDATED.fullmatch(word) is not None or word.endswith("Borrow Liquidation")


def plain(text: str) -> str:
    """Return a number as it is digested, whatever its spelling; any other text as it is."""
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    if not number.is_finite() or abs(number.adjusted()) > MAX_NUMBER_DIGITS:
        return text
    return f"{number.normalize():f}" if number else "0"


def digest_of(said: Mapping[str, str]) -> str:
    """Return the SHA-1 of what a fill says it was, as 40 hex digits."""
    parts = [plain(said[name]) if name in NUMBERS and said[name] else said[name] for name in DIGESTED]
    return hashlib.sha1("\x1f".join(parts).encode(errors="surrogatepass"), usedforsecurity=False).hexdigest()


def uid_of(said: Mapping[str, str], digest: str) -> str:
    """Return what names a fill within its wallet: the exchange's number, else its hash and the digest."""
    tid = plain(said["tid"]) if said["tid"] else "0"
    if tid.isdecimal() and tid != "0" and len(tid) <= MAX_NUMBER_DIGITS:
        return tid
    mark = said["hash"].lower().removeprefix("0x")
    has_hash = re.fullmatch(r"[0-9a-f]{8,64}", mark) is not None and mark.strip("0") != ""
    return f"0x{mark}:{digest}" if has_hash else digest


def number_equal(fills: Sequence[Fill]) -> list[Fill]:
    """Return fills of whole milliseconds, those that say the same with the place that each has among them."""
    places: Counter[str] = Counter()
    numbered = []
    for fill in fills:
        place = places[fill.digest]
        places[fill.digest] += 1
        if place:
            mark = f"#{place}"
            fill = replace(  # noqa: PLW2901 - the same fill, numbered
                fill, digest=fill.digest + mark, uid=fill.uid if fill.has_tid else fill.uid + mark
            )
        numbered.append(fill)
    return numbered


def is_spot(symbol: str) -> bool:
    """Say whether a market is spot: an index or a pair at the exchange."""
    return symbol.startswith("@") or "/" in symbol


def position_side(word: str, start: Decimal | None) -> int:
    """Return 1 for a fill that opens or closes a long, -1 for a short, 0 where its words do not say it."""
    if liquidated := LIQUIDATED.fullmatch(word):
        return 1 if liquidated[1] == "Long" else -1
    if word in LOOSE_CLOSING and start:
        return 1 if start > 0 else -1
    return OPENING.get(word) or CLOSING.get(word) or 0


def is_closing(word: str, pnl: Decimal) -> bool:
    """Say whether a fill closes a position; one whose words are not known does where it has a P&L."""
    if word in CLOSING or word in FLIPS or word in LOOSE_CLOSING or LIQUIDATED.fullmatch(word):
        return True
    return word not in OPENING and pnl != 0


def is_known(word: str) -> bool:
    """Say whether the words of a fill are known ones."""
    known = word in OPENING or word in CLOSING or word in FLIPS or word in LOOSE_CLOSING or word in SPOT_DIRS
    return known or LIQUIDATED.fullmatch(word) is not None or word.endswith("Borrow Liquidation")


def split_flip(fill_size: Decimal, start: Decimal | None) -> tuple[Decimal, Decimal]:
    """Return how much of a flip closes the old position and how much opens the new one."""
    closed = min(abs(start), fill_size) if start is not None else rounded(fill_size / 2)
    return closed, fill_size - closed
