"""What the calls of a methodology came to: their moves after cost, runs of wrong ones, and where it was right."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from statistics import fmean
from typing import Any

from django.conf import settings
from django.utils import timezone

from learning_app.cases.models import TradingCase
from learning_app.methodologies.models import Methodology
from learning_app.methodology_pages.selectors import MAX_CALLS, find_worst_move, list_calls
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.market.outcome import Direction
from minara_site.web.market_labels import pnl_label

MIN_SHARE = 5
"""Below so many outcomes a share or a mean says nothing."""
MAX_ROWS, MAX_WATCHED, MAX_WATCHED_HOURS = 12, 100, 2_400
"""The worst move is that of the newest calls whose windows add up to so much: all prices in them are read."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the counted outcomes were right where `name` holds."""

    name: str
    right: int
    counted: int

    @property
    def is_enough(self) -> bool:
        return self.counted >= MIN_SHARE

    @property
    def percent(self) -> float:
        return 100 * self.right / self.counted


def load_figures(row: Methodology) -> dict[str, Any]:
    """Return what the newest calls of a methodology came to; of moves nothing for a neutral one. Two queries."""
    calls = list_calls(row)
    counted = [call for call in calls if call.is_clear]
    months = shares_of(counted, lambda call: f"{timezone.localtime(call.decided_at):%Y-%m}")
    wrong_runs = (len(list(run)) for is_right, run in groupby(call.is_right for call in counted) if not is_right)
    return {
        "calls": len(calls),
        "counted": len(counted),
        "unpriced": sum(bool(call.gap) or call.outcome_state == OutcomeState.EXPIRED for call in calls),
        "worst_run": max(wrong_runs, default=0),
        "regimes": shares_of(counted, lambda call: call.regime),
        "assets": shares_of(counted, lambda call: call.asset)[:MAX_ROWS],
        "months": sorted(months, key=lambda share: share.name, reverse=True)[:MAX_ROWS],
        "is_all": len(calls) < MAX_CALLS,
        **({} if row.direction == Direction.NEUTRAL else move_figures(row, counted)),
    }


def move_figures(row: Methodology, counted: Sequence[TradingCase]) -> dict[str, Any]:
    """Return what the moves of clear calls came to in percent, after what a trade costs but for the worst one."""
    cost, newest = settings.MINARA.case_cost_pct, counted[: -MAX_WATCHED - 1 : -1]
    moves: dict[bool, list[float]] = {True: [], False: []}
    for call in counted:
        moves[call.is_right].append((call.pnl_pct or 0.0) - cost)
    win, loss = (fmean(some) if some else 0.0 for some in moves.values())
    hours = accumulate(call.horizon_hours for call in newest)
    watched = newest[: sum(total <= MAX_WATCHED_HOURS for total in hours)]
    worst = find_worst_move(row, watched)
    return {
        "cost": f"{cost:g}",
        "mean": pnl_label(fmean(moves[True] + moves[False])) if len(counted) >= MIN_SHARE else "",
        "payoff": f"{win / -loss:.2f}" if win and loss else "",
        "win": pnl_label(win),
        "loss": pnl_label(loss),
        "worst": "" if worst is None else pnl_label(min(worst, 0.0)),
        "watched": len(watched),
    }


def shares_of(counted: Iterable[TradingCase], name_of: Callable[[TradingCase], str]) -> list[Share]:
    """Return the shares of clear calls by what they have in common, the one with the most first."""
    tallies: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for call in counted:
        tally = tallies[name_of(call)]
        tally[0] += call.is_right
        tally[1] += 1
    shares = [Share(name, right, number) for name, (right, number) in tallies.items()]
    return sorted(shares, key=lambda share: (-share.counted, share.name))
