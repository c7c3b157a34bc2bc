"""What one sweep over a role's entries carries along: the role, its lease, the clock, the counts. Source: S0."""

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memory_app.roles.core import Trigger
from memory_app.roles.core.declarations import DeclaredRole, ReflectionPolicy
from memory_app.roles.core.sweep import Ended, Sweep, SweepResult
from memory_app.roles.models import RoleMemory
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.jobs.leases import KeptLease
from minara_site.kernel.jobs.time_budget import TimeBudget


class LeaseLost(Exception):
    """Somebody else reflects on this role by now: this sweep must leave no further effect."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The time that the caller gave, moved on by what has passed since."""

    now: datetime
    begun: float = field(default_factory=time.monotonic)

    def read(self) -> datetime:
        """Return the time."""
        return self.now + timedelta(seconds=time.monotonic() - self.begun)


@dataclass(slots=True)
class Sweeping:
    """A sweep under way. `stopped` says why no model is asked any more; what is `deferred` is written with its slice.

    `changed` are the entries by owner that were closed and of which nobody was told yet. `is_rest` says that an earlier
    run of the same trigger had its turn: what that one put off is left.
    """

    declared: DeclaredRole
    trigger: Trigger
    owner_id: int | None
    mode: Mode
    lease: KeptLease
    clock: Clock
    is_rest: bool = False
    budget: TimeBudget = field(default_factory=TimeBudget)
    counts: Counter[Ended] = field(default_factory=Counter)
    stopped: str = ""
    deferred: list[RoleMemory] = field(default_factory=list)
    changed: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    @property
    def policy(self) -> ReflectionPolicy:
        """When the role's decisions are judged, and by what."""
        return self.declared.policy

    @property
    def is_shadow(self) -> bool:
        """Whether nothing may change."""
        return self.mode is Mode.SHADOW

    @property
    def is_time_spent(self) -> bool:
        """Whether another run takes the rest; never in shadow, which defers nothing and so could not continue."""
        return self.budget.is_spent and not self.stopped and not self.is_shadow

    def check_lease(self) -> None:
        """Raise LeaseLost when the lease is known to be somebody else's."""
        if self.lease.lost.is_set():
            raise LeaseLost

    def end(self, *, is_continued: bool = False) -> Sweep:
        """Return what the sweep did."""
        whole = SweepResult.CONTINUED if is_continued else SweepResult.DONE
        result = SweepResult.STOPPED if self.stopped else whole
        return Sweep(
            result,
            {each.value: self.counts[each] for each in Ended if self.counts[each]},
            self.stopped,
        )
