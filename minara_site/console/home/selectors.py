"""What the home page knows, in few queries, none of which grows with the instance."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, Q, Subquery
from django.utils import timezone

from learning_app.audit.selectors import list_reports
from learning_app.preferences.models import Preference
from memory_app.facts.selectors import list_conflicts
from memory_app.memories.core import ConflictBasis
from memory_app.memories.models import Memory
from memory_app.roles.selectors import list_manual_due
from memory_app.writes.models import BroughtIn
from minara_site.access.models import ApiKey, User
from minara_site.console.home.learning import Learning, learning_columns, read_learning
from minara_site.console.models import Alert, DemoObject, FirstStep, Step
from minara_site.kernel.counts import CountOf, RowCount
from minara_site.kernel.guard.selectors import list_holds
from minara_site.kernel.jobs.models import JobRun, WorkerSeen
from minara_site.kernel.jobs.selectors import SEEN_WITHIN, failed_runs
from minara_site.kernel.llm.selectors import windows_to_look_at
from minara_site.kernel.ownership import EVERYONE, Owner
from profile_app.onboarding.core import ORIGINS, Answers
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.models import FinancialProfile, UserTag

DAYS = 14
NEWEST = 6
MAX_PEOPLE = 8
MAX_FAILED = 3
AUDIT_FIGURES = ("created_at", "composite", "band")  # of the newest report of the learning audit


@dataclass(frozen=True)
class Own:
    """What one person has and has done."""

    memories: RowCount
    held: RowCount
    has_memory: bool
    has_key: bool
    has_used_key: bool
    has_seen_prompt: bool
    has_hidden_steps: bool
    has_brought_in: bool
    outcomes_due: RowCount
    conflicts: RowCount
    limited: RowCount
    proposals: RowCount
    inferred_tags: RowCount
    onboarding: Answers
    has_onboarded: bool


@dataclass(frozen=True)
class Day:
    """Memories that were last written on one day of the reader's calendar, which began at `begin`."""

    begin: datetime
    memories: RowCount


@dataclass(frozen=True)
class Instance:
    """What operators see of the instance. Failed runs are those of the last seven days; days come oldest first.

    `audit` are the figures of the newest report of the learning audit, None before the first.
    """

    memories: RowCount
    people: RowCount
    failed: RowCount
    held: RowCount
    outcomes_due: RowCount
    has_worker: bool
    has_demo: bool
    has_tight_budget: bool
    has_alerts: bool
    days: Sequence[Day]
    newest_failed: Sequence[JobRun]
    newest_people: Sequence[User]
    learning: Learning
    audit: Mapping[str, Any] | None


def load_own(user: User, *, now: datetime) -> Own:
    """Return what this person has and has done. One query."""
    return read_own(read_row(user, own_columns(user, now)))


def load_own_and_instance(user: User, *, now: datetime) -> tuple[Own, Instance]:
    """Return what an operator has, and the whole instance. Three queries."""
    begins = list(days_before(now))
    row = read_row(
        user,
        {
            **own_columns(user, now),
            **instance_columns(now),
            **day_columns(begins, now),
        },
    )
    people = User.objects.with_role().filter(is_active=True).order_by(F("last_visit_at").desc(nulls_last=True), "pk")
    instance = Instance(
        memories=RowCount.of(row["all_memories"]),
        people=RowCount.of(row["people"]),
        failed=RowCount.of(row["failed"]),
        held=RowCount.of(row["held"]),
        outcomes_due=RowCount.of(row["all_outcomes_due"]),
        has_worker=row["has_worker"],
        has_demo=row["has_demo"],
        has_tight_budget=row["has_tight_budget"],
        has_alerts=row["has_alerts"],
        days=[Day(begin, RowCount.of(row[f"day_{place}"])) for place, begin in enumerate(begins)],
        newest_failed=list(failed_runs(now=now).order_by("-created_at", "-pk")[:MAX_FAILED]),
        newest_people=list(people[:MAX_PEOPLE]),
        learning=read_learning(row, now=now),
        audit={name: row[f"audit_{name}"] for name in AUDIT_FIGURES} if row["audit_created_at"] else None,
    )
    return read_own(row), instance


def read_row(user: User, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns, each a subquery, as one row."""
    return User.objects.filter(pk=user.pk).values(**columns).get()


def own_columns(user: User, now: datetime) -> dict[str, Any]:
    """Return what `Own` is read from."""
    own = Memory.objects.for_owner(user).live()
    keys = ApiKey.objects.for_owner(user).filter(revoked_at=None)
    steps = FirstStep.objects.filter(user=user)
    profile = FinancialProfile.objects.for_owner(user)
    pairs, is_limited = list_conflicts(owner=user), Q(basis=ConflictBasis.LIMIT)
    return {
        "own_memories": CountOf(own),
        "own_held": CountOf(list_holds(owner=user)),
        "has_memory": Exists(own.filter(is_demo=False).exclude(origin__in=list(ORIGINS))),
        "has_key": Exists(keys),
        "has_used_key": Exists(keys.filter(last_used_at__isnull=False)),
        "has_seen_prompt": Exists(steps.filter(step=Step.PROMPT_SEEN)),
        "has_hidden_steps": Exists(steps.filter(step=Step.HIDDEN)),
        "has_brought_in": Exists(BroughtIn.objects.for_owner(user).filter(seen_at=None)),
        "outcomes_due": CountOf(list_manual_due(owner=user, now=now)),
        "conflicts": CountOf(pairs.exclude(is_limited)),
        "limited": CountOf(own.filter(pk__in=pairs.filter(is_limited).values("leaves"))),
        "proposals": CountOf(Preference.objects.for_owner(user).proposed()),
        "inferred_tags": CountOf(UserTag.objects.for_owner(user).filter(source=TagSource.INFERRED)),
        "onboarding": Subquery(profile.values("onboarding_answers_json")[:1]),
        "has_onboarded": Exists(profile.filter(onboarding_completed=1)),
    }


def read_own(row: Mapping[str, Any]) -> Own:
    """Return what `own_columns` found."""
    return Own(
        memories=RowCount.of(row["own_memories"]),
        held=RowCount.of(row["own_held"]),
        has_memory=row["has_memory"],
        has_key=row["has_key"],
        has_used_key=row["has_used_key"],
        has_seen_prompt=row["has_seen_prompt"],
        has_hidden_steps=row["has_hidden_steps"],
        has_brought_in=row["has_brought_in"],
        outcomes_due=RowCount.of(row["outcomes_due"]),
        conflicts=RowCount.of(row["conflicts"]),
        limited=RowCount.of(row["limited"]),
        proposals=RowCount.of(row["proposals"]),
        inferred_tags=RowCount.of(row["inferred_tags"]),
        onboarding=Answers.parse(row["onboarding"] or "{}"),
        has_onboarded=row["has_onboarded"],
    )


def instance_columns(now: datetime) -> dict[str, Any]:
    """Return the columns of the whole instance."""
    newest = list_reports(now=now).filter(window_days=settings.MINARA.methodology_audit_window_days)
    return {
        "all_memories": CountOf(Memory.objects.live()),
        "people": CountOf(User.objects.filter(is_active=True)),
        "failed": CountOf(failed_runs(now=now)),
        "held": CountOf(list_holds(owner=EVERYONE)),
        "all_outcomes_due": CountOf(list_manual_due(owner=EVERYONE, now=now)),
        "has_worker": Exists(WorkerSeen.objects.filter(seen_at__gte=now - SEEN_WITHIN)),
        "has_alerts": Exists(Alert.objects.open()),
        "has_tight_budget": Exists(windows_to_look_at(now=now)),
        **learning_columns(now),
        **{f"audit_{name}": Subquery(newest.values(name)[:1]) for name in AUDIT_FIGURES},
        "has_demo": Q(Exists(DemoObject.objects.all())) | Q(Exists(Memory.objects.filter(is_demo=True))),
    }


def day_columns(begins: Sequence[datetime], now: datetime) -> dict[str, Any]:
    """Return a column per day: how many live memories were last written on it."""
    live = Memory.objects.live()
    return {
        f"day_{place}": CountOf(live.filter(updated_at__gte=begin, updated_at__lt=end))
        for place, (begin, end) in enumerate(pairwise([*begins, now + timedelta(days=1)]))
    }


def days_before(now: datetime) -> Iterator[datetime]:
    """Yield when each of the last 14 days of the reader's calendar began, today last."""
    today = timezone.localtime(now).date()
    for back in reversed(range(DAYS)):
        yield timezone.make_aware(datetime.combine(today - timedelta(days=back), time.min))


def list_newest_memories(*, owner: Owner) -> list[Memory]:
    """Return the memories that changed last."""
    return list(Memory.objects.for_owner(owner).live().order_by("-updated_at", "-id")[:NEWEST])
