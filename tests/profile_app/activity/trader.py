"""Somebody who trades real candles by a simple rule, and what came of it, reckoned while trading.

The rows are what an exchange would say; the sums come from the trader's own books, never from the rows.
"""

from collections.abc import Iterable, Iterator
from csv import DictReader
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from tests.kit.shared import shared_path

WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
STRANGER = "0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359"
MICRO, CENT = Decimal("0.000001"), Decimal("0.01")


@dataclass
class Books:
    """What the trader knows of each market."""

    fills: int = 0
    volume: Decimal = Decimal(0)
    pnl: Decimal = Decimal(0)
    fees: Decimal = Decimal(0)
    closing: int = 0
    won: int = 0
    orders: dict[int, Decimal] = field(default_factory=dict)
    longs: Decimal = Decimal(0)
    shorts: Decimal = Decimal(0)


@dataclass
class Trader:
    """One wallet at work. `rows` are its fills, oldest first; `books` are by market."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    books: dict[str, Books] = field(default_factory=dict)
    held: dict[str, tuple[Decimal, Decimal]] = field(default_factory=dict)
    liquidations: int = 0
    number: int = 1_000

    def trade(
        self,
        coin: str,
        at_ms: int,
        signed: Decimal,
        price: Decimal,
        *,
        parts: int = 1,
        rate: Decimal = Decimal("0.00035"),
        has_tid: bool = True,
        liquidated: str = "",
    ) -> None:
        """Buy (+) or sell (-) in one order of so many fills that share hash, order and millisecond."""
        self.number += 1
        oid, mark = self.number, f"0x{self.number:064x}"
        for part in range(parts):
            size = signed / parts
            position, average = self.held.get(coin, (Decimal(0), Decimal(0)))
            closed = min(abs(position), abs(size)) if position * size < 0 else Decimal(0)
            pnl = (closed * (price - average) * (1 if position > 0 else -1)).quantize(MICRO, ROUND_HALF_UP)
            fee = (abs(size) * price * rate).quantize(MICRO, ROUND_HALF_UP)
            after = position + size
            self.rows.append(
                {
                    "coin": coin,
                    "px": f"{price:f}",
                    "sz": f"{abs(size):f}",
                    "side": "B" if size > 0 else "A",
                    "time": at_ms,
                    "startPosition": f"{position:f}",
                    "dir": words_of(position, after),
                    "closedPnl": f"{pnl:f}",
                    "hash": mark,
                    "oid": oid,
                    "crossed": True,
                    "fee": f"{fee:f}",
                    "tid": self.number * 100 + part if has_tid else 0,
                    "feeToken": "USDC",
                    "builderFee": "0.01",
                }
            )
            if liquidated:
                self.rows[-1]["liquidation"] = {"liquidatedUser": liquidated, "markPx": "1", "method": "market"}
                self.liquidations += liquidated.lower() == WALLET.lower()
            self.enter(coin, size, price, pnl, fee, closed, oid, position, after)
            if position * after <= 0 and after:
                average = price
            elif abs(after) > abs(position):
                average = (average * abs(position) + price * abs(size)) / abs(after)
            self.held[coin] = (after, average)

    def enter(
        self,
        coin: str,
        size: Decimal,
        price: Decimal,
        pnl: Decimal,
        fee: Decimal,
        closed: Decimal,
        oid: int,
        before: Decimal,
        after: Decimal,
    ) -> None:
        """Write a fill into the books."""
        books = self.books.setdefault(coin, Books())
        books.fills += 1
        books.volume += abs(size) * price
        books.pnl += pnl
        books.fees += fee
        if closed:
            books.closing += 1
            books.won += pnl > 0
            books.orders[oid] = books.orders.get(oid, Decimal(0)) + pnl
        for side, part in ((before, closed), (after, abs(size) - closed)):
            if side > 0:
                books.longs += part * price
            elif side < 0:
                books.shorts += part * price


def words_of(before: Decimal, after: Decimal) -> str:
    """Return how the exchange calls a fill that leads from one position to another."""
    if before * after < 0:
        return "Long > Short" if before > 0 else "Short > Long"
    side = "Long" if (before or after) > 0 else "Short"
    return f"{'Open' if abs(after) > abs(before) else 'Close'} {side}"


def closes_of(name: str) -> list[Decimal]:
    """Return the closing prices of a file of real candles, to six places."""
    with shared_path(f"data/{name}").open() as file:
        return [Decimal(row["close"]).quantize(MICRO) for row in DictReader(file)]


def signals(closes: Iterable[Decimal], window: int) -> Iterator[tuple[Decimal, int]]:
    """Yield each price with 1 above the mean of the window before it, else -1."""
    past: list[Decimal] = []
    for close in closes:
        if len(past) == window:
            yield close, 1 if close > sum(past) / window else -1
            past.pop(0)
        past.append(close)


def trade_candles(*, ends_ms: int, step_ms: int = 60_000) -> Trader:
    """Trade both files so that the last fill lies before `ends_ms`: with flips, rebates, many fills of one hash."""
    trader = Trader()
    moves = [("ETH", signal) for signal in signals(closes_of("eth_btc_5m.csv"), 40)]
    moves += [("XRP", signal) for signal in signals(closes_of("xrp_usdt_1h.csv"), 8)]
    start = ends_ms - len(moves) * step_ms
    for number, (coin, (price, side)) in enumerate(moves):
        held = trader.held.get(coin, (Decimal(0), Decimal(0)))[0]
        wanted = Decimal(side) * (10 if number % 7 else 0) + (side * Decimal("2.5") if number % 3 == 0 else 0)
        if wanted != held:
            trader.trade(
                coin,
                start + number * step_ms,
                wanted - held,
                price,
                parts=4 if number % 5 == 0 else 1,
                rate=Decimal("-0.00002") if number % 4 == 0 else Decimal("0.00035"),
                has_tid=number % 11 != 0,
            )
    return trader
