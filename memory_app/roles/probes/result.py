"""What a probe finds out. Source: S0 (outcome probe)."""

from dataclasses import dataclass
from datetime import datetime

from memory_app.roles.core import SkipReason
from memory_app.roles.models import RoleMemory
from minara_site.kernel.errors import Unavailable
from minara_site.kernel.market.core import Quote
from minara_site.kernel.market.outcome import WAIT_FOR_PRICE, Outcome, OutcomeWindow


class ProbeFailed(Unavailable):
    """A probe raised; the entry stays as it is."""

    code = "probe_failed"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What came of a decision. `at` is when the market had answered, `by` the probe, or who marked it.

    `pnl_pct` is in percent, in the direction of the decision; None where there is no figure.
    """

    outcome: Outcome
    at: datetime
    pnl_pct: float | None
    entry_quote: Quote | None = None
    exit_quote: Quote | None = None
    by: str = ""


def unpriced(entry: RoleMemory, window: OutcomeWindow, *, now: datetime) -> SkipReason | None:
    """Return NO_PRICE a week after the window's end, or after the recording of a replay; None while one may come."""
    return SkipReason.NO_PRICE if now > max(window.ends_at, entry.created_at) + WAIT_FOR_PRICE else None
