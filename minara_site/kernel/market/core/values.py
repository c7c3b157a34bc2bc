"""One price, one volume, one moment, as they are written in files, answers and calls; each read or refused.

A price keeps 15 significant digits and 18 places: what every database keeps, so that a value read again is the value
that was written. No price has more; the digits beyond are noise of floating point (0.09946999000000001). Pure.
"""

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

DIGITS = 15
SMALLEST = Decimal("1e-18")
LARGEST = Decimal("1e18")
PLACES = Context(prec=60)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
MILLISECONDS_FROM = 10**11  # as seconds it would be the year 5138
MICROSECONDS_FROM = 10**14
MAX_CHARS = 60

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_UNIX = re.compile(r"[0-9]{9,17}(?:\.[0-9]{1,9})?")


class Fault(StrEnum):
    """Why a value or a row cannot be used."""

    MISSING = "missing"
    NOT_A_NUMBER = "not_a_number"
    NOT_POSITIVE = "not_positive"
    NEGATIVE = "negative"
    TOO_SMALL = "too_small"
    TOO_LARGE = "too_large"
    NOT_A_MOMENT = "not_a_moment"
    OUT_OF_TIME = "out_of_time"
    LOW_OVER_HIGH = "low_over_high"
    OUTSIDE_RANGE = "outside_range"
    NOT_CLOSED = "not_closed"
    OTHER_VALUES = "other_values"
    TOO_FEW_CELLS = "too_few_cells"
    BROKEN_LINE = "broken_line"


class UnusableError(ValueError):
    """A value cannot be used: why, in which column, and the other line that it quarrels with."""

    def __init__(
        self,
        fault: Fault,
        column: str = "",
        *,
        other_line: int = 0,
    ) -> None:
        super().__init__(fault, column)
        self.fault, self.column, self.other_line = fault, column, other_line


def read_text(value: Any, column: str) -> str:
    """Return a value as text without blanks around it. Raises UnusableError where nobody says one."""
    text = "" if value is None or isinstance(value, bool) else str(value).strip()
    if not text:
        raise UnusableError(Fault.MISSING, column)
    return text


def read_number(value: Any, column: str) -> Decimal:
    """Return a finite number of 15 digits from text or from a JSON number. Raises UnusableError."""
    text = read_text(value, column)
    if len(text) > MAX_CHARS or _NUMBER.fullmatch(text) is None:
        raise UnusableError(Fault.NOT_A_NUMBER, column)
    try:
        exact = Decimal(text)
        return +exact if exact.is_zero() else rounded(exact)
    except InvalidOperation:
        raise UnusableError(Fault.TOO_LARGE, column) from None


def read_amount(value: Any, column: str = "amount") -> Decimal:
    """Return an amount of either sign that a column holds: below 10^18. Raises UnusableError."""
    number = read_number(value, column)
    if abs(number) >= LARGEST:
        raise UnusableError(Fault.TOO_LARGE, column)
    return number


def rounded(number: Decimal) -> Decimal:
    """Return a number of 15 significant digits and 18 places."""
    kept = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN).plus(number)
    return PLACES.quantize(kept, SMALLEST) if abs(kept) < LARGEST else kept


def read_price(value: Any, column: str = "price") -> Decimal:
    """Return a price, over 0 and below 10^18. Raises UnusableError."""
    number = read_number(value, column)
    if number <= 0:
        is_tiny = not str(value).strip().startswith("-") and Decimal(str(value).strip()) > 0
        raise UnusableError(Fault.TOO_SMALL if is_tiny else Fault.NOT_POSITIVE, column)
    if number >= LARGEST:
        raise UnusableError(Fault.TOO_LARGE, column)
    return number


def read_volume(value: Any, column: str = "volume") -> Decimal | None:
    """Return a volume of 0 or more, None when nobody says one. Raises UnusableError."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    number = read_number(value, column)
    if number < 0:
        raise UnusableError(Fault.NEGATIVE, column)
    if number >= LARGEST:
        raise UnusableError(Fault.TOO_LARGE, column)
    return number


def read_moment(value: Any, column: str = "ts") -> datetime:
    """Return a moment in UTC from ISO 8601, where one without a zone is UTC, or from Unix s, ms or µs.

    Fewer than nine digits are no Unix time: 20180110 is a day.

    Raises UnusableError for what is no moment, and for one before 1970 or after 2200.
    """
    text = read_text(value, column)
    if isinstance(value, float) and not math.isfinite(value):
        raise UnusableError(Fault.NOT_A_MOMENT, column)
    try:
        moment = unix_moment(Decimal(text)) if _UNIX.fullmatch(text) else iso_moment(text)
    except (ValueError, OverflowError):
        raise UnusableError(Fault.NOT_A_MOMENT, column) from None
    if not EPOCH < moment < LATEST:
        raise UnusableError(Fault.OUT_OF_TIME, column)
    return moment


def unix_moment(number: Decimal) -> datetime:
    """Return the moment of a Unix time; how large it is says in which unit. Raises OverflowError."""
    per_second = 1 if number < MILLISECONDS_FROM else 1_000 if number < MICROSECONDS_FROM else 1_000_000
    return EPOCH + timedelta(microseconds=int(number * 1_000_000 / per_second))


def iso_moment(text: str) -> datetime:
    """Return the moment of an ISO text. Raises ValueError or OverflowError."""
    if len(text) > MAX_CHARS:
        raise ValueError("too long")
    return in_utc(datetime.fromisoformat(text.removesuffix(" UTC")))


def in_utc(moment: datetime) -> datetime:
    """Return a moment in UTC; one without a zone is in UTC already."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
