"""What the scorers read, and what they return. Source: S2 (six scoring dimensions). Pure.

Rows of findings name an object as `kind:id`: `methodology:<uid>`, `trading_case:<id>`, `cron_run:<id>`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from itertools import islice
from typing import NamedTuple, Self

from minara_site.kernel.core.assets import AssetClass

MAX_ROWS = 20
"""How many rows a finding names; its count says how many there are."""
HIGH_SHARE, MEDIUM_SHARE = Fraction(2, 5), Fraction(1, 5)


class Dimension(StrEnum):
    """What is scored."""

    SYNTHESIS_QUALITY = "synthesis_quality"
    GRADUATION_FP_RATE = "graduation_fp_rate"
    ATTRIBUTION_INTEGRITY = "attribution_integrity"
    COVERAGE_HEALTH = "coverage_health"
    QUARANTINE_CHURN = "quarantine_churn"
    CRON_HEALTH = "cron_health"


class Severity(StrEnum):
    """How urgent a finding is, the most urgent first."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class FindingCode(StrEnum):
    """What can be found."""

    VERDICTS_OSCILLATE = "verdicts_oscillate"
    VERDICTS_UNREADABLE = "verdicts_unreadable"
    FLAGS_CONTRADICTED = "flags_contradicted"
    MARKET_STRESS_FREEZE = "market_stress_freeze"
    SYNTHESIS_AUTO_DEMOTE = "synthesis_auto_demote"
    GRADUATIONS_REVERSED = "graduations_reversed"
    SKILL_DECAYED = "skill_decayed"
    OUTCOMES_OF_ONE_OWNER = "outcomes_of_one_owner"
    GRADUATED_BY_LADDER = "graduated_by_ladder"
    CASES_UNRESOLVED = "cases_unresolved"
    CASES_WITHOUT_PRICE = "cases_without_price"
    CASES_OVERDUE = "cases_overdue"
    GROUPS_UNCOVERED = "groups_uncovered"
    GROUPS_THIN = "groups_thin"
    STATES_CHURN = "states_churn"
    HEARTBEAT_MISSING = "heartbeat_missing"
    HEARTBEAT_LATE = "heartbeat_late"
    HEARTBEAT_FAILED = "heartbeat_failed"
    CRON_BEHIND = "cron_behind"


class MethodologyRecord(NamedTuple):
    """A methodology as it is now; `is_held` by the guard, `is_decayed` by the court's detector.

    One that `has_fallen_by_one` is below the demotion bar, but not without the outcomes of some single owner; one that
    `is_by_ladder` is at the bar, but not without the outcomes of institution runs.
    """

    uid: str
    asset_class: AssetClass
    times_used: int
    is_graduated: bool
    is_held: bool = False
    is_decayed: bool = False
    has_fallen_by_one: bool = False
    is_by_ladder: bool = False


class EventRecord(NamedTuple):
    """A lifecycle event of a `LifecycleKind`; `methodology` is a uid, None for an event of the store.

    `is_uncounted` is a flag of the judge that prices contradict.
    """

    id: int
    methodology: str | None
    kind: str
    at: datetime
    reason: str = ""
    is_uncounted: bool = False


class CaseRecord(NamedTuple):
    """A trading case in its `OutcomeState`; `gap` says why the prices around its window judge nothing."""

    id: int
    outcome_state: str
    decided_at: datetime
    window_ends_at: datetime
    gap: str = ""


@dataclass(frozen=True, slots=True)
class CaseCounts:
    """How many cases closed, how many of them good or bad, how many are overdue, how many closed without a price.

    `first` are the ids of the first overdue, `unresolved` of the first that closed neither good nor bad, `unpriced` of
    the first that closed without a price that judges.
    """

    closed: int
    resolved: int
    overdue: int
    first: tuple[int, ...] = ()
    unresolved: tuple[int, ...] = ()
    without_price: int = 0
    unpriced: tuple[int, ...] = ()


class HeartbeatRecord(NamedTuple):
    """One ended pass of the learning cron."""

    id: int
    ended_at: datetime
    is_ok: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault with its count and its first rows; `facts` are the numbers and names that its sentence needs."""

    code: FindingCode
    severity: Severity
    count: int
    rows: tuple[str, ...] = ()
    facts: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """An exact score from 0 to 100, None when there is not enough to score; `facts` say what it was computed of."""

    score: Fraction | None
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, int | str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        score: Fraction | float | None,
        findings: Iterable[Finding | None],
        **facts: int | str,
    ) -> Self:
        """Return a score with those findings that there are."""
        kept = tuple(finding for finding in findings if finding and finding.count)
        return cls(None if score is None else Fraction(score), kept, facts)


def severity_of(share: Fraction | float) -> Severity:
    """Return how urgent it is that this share, in [0, 1], is at fault."""
    return Severity.HIGH if share >= HIGH_SHARE else Severity.MEDIUM if share >= MEDIUM_SHARE else Severity.LOW


def methodology_rows(uids: Iterable[str]) -> tuple[str, ...]:
    """Return the first rows of a finding about methodologies."""
    return tuple(f"methodology:{uid}" for uid in islice(uids, MAX_ROWS))


def case_rows(ids: Iterable[int]) -> tuple[str, ...]:
    """Return the first rows of a finding about cases."""
    return tuple(f"trading_case:{case_id}" for case_id in islice(ids, MAX_ROWS))
