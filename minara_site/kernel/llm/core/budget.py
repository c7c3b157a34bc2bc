"""What a budget decides, given what its windows hold. Source: S2 (budget tracking), trust R-06 to R-10."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from minara_site.kernel.llm.core.windows import Window

TOO_EARLY = 0.1
"""The share of a window before which its spending foretells nothing."""
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Totals:
    """What a window holds, in USD. `reserved` is what the calls under way may cost at worst; `cap` None is no cap."""

    window: Window
    spent: Decimal
    reserved: Decimal
    cap: Decimal | None
    is_warned: bool = False

    @property
    def committed(self) -> Decimal:
        """Return what is spent and reserved together: what a cap is compared to."""
        return self.spent + self.reserved

    @property
    def left(self) -> Decimal | None:
        """Return what may still be reserved, never below 0; None without a cap."""
        return None if self.cap is None else max(self.cap - self.committed, Decimal(0))

    @property
    def is_exhausted(self) -> bool:
        """Whether no call that costs anything fits any more."""
        return self.left == 0

    def is_beyond(self, share: float) -> bool:
        """Say whether what is spent and reserved has reached this share of the cap."""
        return self.cap is not None and 0 < self.committed >= self.cap * as_decimal(share)

    def adding(self, amount: Decimal) -> "Totals":
        """Return the window with one more reservation."""
        return Totals(
            self.window,
            self.spent,
            self.reserved + amount,
            self.cap,
            self.is_warned,
        )

    def refuses(self, amount: Decimal) -> bool:
        """Say whether one more reservation of this amount would pass the cap; what costs nothing always fits."""
        return self.cap is not None and amount > 0 and self.committed + amount > self.cap


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a call may be made: the window that refuses it, and those that it takes over their soft threshold."""

    refused_by: Totals | None
    warns: tuple[Totals, ...]


def decide(totals: Iterable[Totals], amount: Decimal, *, soft: float) -> Decision:
    """Say whether a call of this worst cost fits into all its windows.

    Of several that refuse it the one that ends last is named, because nothing fits before then. A window warns once,
    at the reservation that reaches the share `soft` of its cap; a call that is refused warns of nothing.
    """
    totals = tuple(totals)
    refusing = [each for each in totals if each.refuses(amount)]
    if refusing:
        return Decision(max(refusing, key=lambda each: each.window.ends_at), ())
    after = (each.adding(amount) for each in totals if not each.is_warned)
    return Decision(None, tuple(each for each in after if each.is_beyond(soft)))


def effective_cap(set_cap: Decimal | None, raised_cap: Decimal | None) -> Decimal | None:
    """Return the cap that counts: a raise never lowers one, and does nothing where there is none."""
    return set_cap if set_cap is None or raised_cap is None else max(set_cap, raised_cap)


def forecast(spent: Decimal, window: Window, *, now: datetime) -> Decimal | None:
    """Return what the window will have cost at its end if it goes on like this; None while that is too early to say."""
    elapsed = window.elapsed_share(now)
    return None if elapsed < TOO_EARLY else spent / as_decimal(elapsed)


def as_decimal(share: float) -> Decimal:
    """Return a share as it was written, 0.8 and not 0.8000000000000000444."""
    return Decimal(str(share))
