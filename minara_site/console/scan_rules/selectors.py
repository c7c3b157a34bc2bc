"""What the rules of the guard found lately, and how far the stored verdicts are from the rules in force."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q

from minara_site.kernel.counts import RowCount
from minara_site.kernel.guard.core import RULES
from minara_site.kernel.guard.labels import REASONS, describe_rule
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.guard.rescan import count_outdated
from minara_site.kernel.jobs.models import JobRun, RunState
from minara_site.web.filters import Text

RESCAN = "guard.rescan"
DAYS = 30


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule, the holds that it caused first in the last 30 days, and what people decided on them."""

    id: str
    description: str
    reason: Text
    hits: int = 0
    released: int = 0
    discarded: int = 0
    last_hit_at: datetime | None = None

    @property
    def false_alarm_percent(self) -> float | None:
        """How many of a hundred decided hits were released, 0 to 100; None while nobody decided one."""
        decided = self.released + self.discarded
        return 100 * self.released / decided if decided else None


@dataclass(frozen=True, slots=True)
class Freshness:
    """How many stored texts another rule set judged, and the newest re-scan; `is_under_way` while one waits or runs."""

    outdated: RowCount
    last_run: JobRun | None

    @property
    def is_under_way(self) -> bool:
        return self.last_run is not None and self.last_run.state in {RunState.QUEUED, RunState.RUNNING}


def list_rules(*, now: datetime) -> Sequence[RuleRow]:
    """Return the rules in force, those with the most hits first. One query, along the holds' index by time and rule."""
    counted = (
        Hold.objects.filter(held_at__gte=now - timedelta(days=DAYS))
        .values("rule")
        .annotate(
            hits=Count("pk"),
            released=Count("pk", filter=Q(decision=Decision.RELEASED)),
            discarded=Count("pk", filter=Q(decision=Decision.DISCARDED)),
            last_hit_at=Max("held_at"),
        )
    )
    found = {row.pop("rule"): row for row in counted}
    rows = [
        RuleRow(
            rule.id,
            describe_rule(rule.id),
            REASONS[rule.reason],
            **found.get(rule.id, {}),
        )
        for rule in RULES.rules
    ]
    return sorted(rows, key=lambda row: -row.hits)


def load_freshness() -> Freshness:
    """Return how far the stored verdicts are from the rules in force. Two queries."""
    return Freshness(
        count_outdated(),
        JobRun.objects.filter(job=RESCAN).order_by("-created_at").first(),
    )
