"""Reads of reflection notes, of the trades that were made under them, and of how often they stood before an agent."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet

from learning_app.ledger.core import HELD, TradeStatus, net_of
from learning_app.ledger.core.statistics import risk_of
from learning_app.ledger.models import Deployment, Trade
from learning_app.lessons.core import NOTE_KIND
from learning_app.lessons.core.compare import Result
from learning_app.lessons.models import LessonsUse, ReflectionNote
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.ownership import Owner

MAX_RESULTS, MAX_REVISIONS = 5_000, 30
COUNTED = (
    "entry_lessons_hash",
    "entry_snapshot__lessons_hash",
    "entry_regime_tag",
    "entry_tick_at",
    "entry_price",
    "entry_size_usd",
    "exit_tick_at",
    "stop_price",
    "realized_pnl_usd",
    "fees_usd",
    "status",
)
"""What the comparison reads of a trade."""
NEVER_IN_FORCE = {"held_at": F("created_at")}
"""Of notes that the guard held when they were written: until a person releases one, it supersedes nothing."""


@dataclass(frozen=True, slots=True)
class Use:
    """How one revision was used: what was held in percent of the equity, and ticks in the market in percent of all.

    Of its `proposals` so many as `skipped` were not executed.
    """

    exposure_pct: float
    in_market_pct: float
    skipped: int
    proposals: int


def list_notes(*, owner: Owner) -> "QuerySet[ReflectionNote]":
    """Return the notes of an owner's deployments, unordered."""
    rows: QuerySet[ReflectionNote] = ReflectionNote.objects.for_owner(owner).filter(deployment__isnull=False)
    return rows.select_related("deployment", "owner")


def list_rows(owner: Owner) -> "QuerySet[ReflectionNote]":
    """Return the notes as lists show them: without their words."""
    return list_notes(owner=owner).defer("lessons_text")


def find_note(deployment_id: int, content_hash: str) -> ReflectionNote | None:
    """Return the newest note of a deployment with these lessons, a held one without its text. One query."""
    rows = ReflectionNote.objects.filter(deployment=deployment_id, content_hash=content_hash)
    return next(iter(without_refused(rows.order_by("-generated_at", "-pk")[:1])), None)


def load_newest_notes(deployment_id: int) -> list[ReflectionNote]:
    """Return the active note and the one before it, the newest first. One query.

    One that is held, or that today's rules refuse, is there with `held_at` and without its text.
    """
    return without_refused(list_in_force(deployment_id)[:2])


def list_in_force(deployment_id: int | None) -> "QuerySet[ReflectionNote]":
    """Return the notes of a deployment that are, or were, in force, the newest first."""
    rows: QuerySet[ReflectionNote] = ReflectionNote.objects.filter(deployment=deployment_id)
    return rows.exclude(**NEVER_IN_FORCE).order_by("status", "-generated_at", "-pk")


def load_revisions(deployment_id: int) -> list[ReflectionNote]:
    """Return the notes of a deployment, the newest first, held ones without their text. One query."""
    rows = ReflectionNote.objects.filter(deployment=deployment_id).order_by("-generated_at", "-pk")
    return without_refused(rows[:MAX_REVISIONS])


def load_with_former(note: ReflectionNote) -> list[ReflectionNote]:
    """Return a note and the one that it followed in force, if any, held ones without their text. One query."""
    earlier = list_in_force(note.deployment_id).filter(generated_at__lt=note.generated_at)
    return without_refused([note, *earlier.order_by("-generated_at", "-pk")[:1]])


def without_refused(rows: Iterable[ReflectionNote]) -> list[ReflectionNote]:
    """Return notes without the texts that are held, or that today's rules refuse; these say held too."""
    found = list(rows)
    refused = find_refused(NOTE_KIND, [row for row in found if not row.held_at])
    for row in found:
        if row.held_at or row.pk in refused:
            row.held_at, row.lessons_text = row.held_at or row.created_at, ""
    return found


def load_results(deployment: Deployment, *, turns_from: datetime | None) -> list[Result]:
    """Return the newest trades of a deployment with the lessons of each. One query.

    `turns_from` is the tick from which on two revisions take turns, None where none do. Where the tick of an opening is
    deleted, the lessons of the next opening stand for those of its answer.
    """
    rows = Trade.objects.filter(deployment=deployment).select_related("entry_snapshot").only(*COUNTED)
    results: list[Result] = []
    after: str | None = None
    for row in rows.order_by("-entry_tick_at", "-number")[:MAX_RESULTS]:
        net, risk = net_of(row), risk_of(row)
        lessons = row.entry_lessons_hash or ""
        snapshot = row.entry_snapshot
        answered = (snapshot.lessons_hash or "").replace(HELD, "") if snapshot else after
        results.append(
            Result(
                lessons=lessons,
                next_lessons=lessons if answered is None else answered,
                opened_at=row.entry_tick_at,
                closed_at=row.exit_tick_at if row.status == TradeStatus.CLOSED else None,
                net=float(net),
                in_r=float(net / risk) if risk else None,
                regime=row.entry_regime_tag,
                takes_turns=turns_from is not None and row.entry_tick_at > turns_from,
            )
        )
        after = lessons
    return results


def load_use(deployment: Deployment) -> dict[str, Use]:
    """Return how often each revision stood before the agent, by its hash. One query."""
    return {
        row.content_hash: Use(
            100 * float(row.exposure) / row.ticks,
            100 * row.ticks_in_market / row.ticks,
            row.skipped,
            row.proposals,
        )
        for row in LessonsUse.objects.filter(deployment=deployment, ticks__gt=0)
    }
