"""What a probe finds out. Source: S0 (outcome probe)."""

from dataclasses import dataclass
from datetime import datetime

from minara_site.kernel.errors import Unavailable
from minara_site.kernel.market.core import Quote
from minara_site.kernel.market.outcome import Outcome


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
