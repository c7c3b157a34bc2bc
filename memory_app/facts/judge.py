"""A model judges facts that contradict each other. Source: S1 (contradiction resolution, `FactConsolidator`), R-50.

It hands in a `Decision` like anybody, and `apply_decision` does no more for it than the invariants allow. Nothing is
retired unless a person could bring it back with one click. No question is asked inside a transaction.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from memory_app.capabilities import CONTRADICTION_JUDGE
from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import UNSURE, Decision, Pair
from memory_app.facts.core.judging import (
    HELD_BY_GUARD,
    JUDGED,
    MAX_INVALID,
    MAX_TOKENS,
    SYSTEM,
    JudgeAnswer,
    render_pair,
)
from memory_app.facts.models import ConsolidationEvent, FactVerdict
from memory_app.facts.selectors import SETTLED, list_conflicts
from memory_app.facts.services.decide import apply_decision, side_of
from memory_app.facts.services.rows import is_settled, lock_facts_of, lock_rows
from memory_app.memories.core import ConflictState
from memory_app.memories.models import FactConflict
from memory_app.memories.selectors import find_refused
from minara_site.kernel.core.vocabulary import Source
from minara_site.kernel.errors import Refused, Throttled, Unavailable
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.services import record_shadow
from minara_site.kernel.guard import core as guard
from minara_site.kernel.jobs.leases import KeptLease, kept_lease
from minara_site.kernel.jobs.services import DROPPED, Claim, report_progress
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.gateway import Answer, AnswerInvalid, Question, ask
from minara_site.kernel.ownership import EVERYONE

JUDGE = "facts.judge"
ACTOR = f"job:{JUDGE}"
LEASE, LEASE_SECONDS = JUDGE, 60
MAX_JUDGED = 100  # pairs in a run; the next run goes on

log = structlog.get_logger(__name__)


class Outcome(StrEnum):
    """What became of a pair that was asked about."""

    DECIDED = "decided"
    LEFT = "left_to_a_person"
    SHADOW = "in_shadow"
    CHANGED = "changed_meanwhile"
    INVALID = "invalid_answers"


def judge_conflicts(
    *,
    now: datetime,
    claim: Claim | None = None,
    most: int = MAX_JUDGED,
) -> dict[str, Any]:
    """Judge open conflicts without a verdict, at most so many; return how many of each outcome, and why it stopped.

    A second run beside this one ends at once: nothing is paid for twice.
    """
    if reason := why_not():
        return {"stopped": reason}
    with kept_lease(LEASE, seconds=LEASE_SECONDS, now=now) as lease:
        if lease is None:
            return {"result": DROPPED}
        consolidator = FactConsolidator(now=now, run_id=claim.run_id if claim else None)
        return consolidator.judge_all(most, lease=lease, claim=claim)


def why_not() -> str:
    """Return why no conflict is judged now, empty when they are."""
    if not settings.MINARA.memory_consolidation_enabled:
        return _("MEMORY_CONSOLIDATION_ENABLED is false: conflicts wait for a person.")
    if mode_of(CONTRADICTION_JUDGE) is Mode.OFF:
        return _("The judge of contradictions is switched off under System, Automation.")
    return ""


def list_unjudged(mode: Mode) -> "Iterator[FactConflict]":
    """Yield the pairs of facts that a model may judge, owner by owner, the oldest first; not what the guard refuses.

    A verdict in shadow does not count once the capability is on. Of two that their owner typed, a model can retire
    neither: they wait for the owner.
    """
    asked = Q(verdict__isnull=True)
    if mode is Mode.ON:
        asked |= Q(verdict__is_shadow=True)
    pairs = list_conflicts(owner=EVERYONE).filter(asked, invalid_answers__lt=MAX_INVALID, **SETTLED)
    pairs = pairs.exclude(older__source=Source.USER_MANUAL, newer__source=Source.USER_MANUAL)
    ordered = pairs.select_related("older", "newer").order_by("owner_id", "found_at", "pk")
    for pair in ordered.iterator(chunk_size=MAX_JUDGED):
        if not find_refused([pair.older, pair.newer]):
            yield pair


@dataclass(frozen=True, slots=True)
class FactConsolidator:
    """Asks a model about pairs of facts and carries out what it may decide."""

    now: datetime
    run_id: int | None = None

    def judge_all(
        self,
        most: int,
        *,
        lease: KeptLease,
        claim: Claim | None,
    ) -> dict[str, Any]:
        """Judge pair after pair until there are no more, no model can be asked, or another run took over."""
        counts: dict[str, Any] = {outcome.value: 0 for outcome in Outcome}
        mode = mode_of(CONTRADICTION_JUDGE)
        pairs = [pair.pk for pair, _number in zip(list_unjudged(mode), range(most), strict=False)]
        for done, pk in enumerate(pairs, start=1):
            if reason := _("Another run took over.") if lease.lost.is_set() else why_not():
                return {**counts, "stopped": reason}
            try:
                counts[self.judge(pk)] += 1
            except (Unavailable, Throttled, Refused) as stop:
                log.warning(
                    "judge_stopped",
                    reason=stop.problem_code,
                    waiting=len(pairs) - done + 1,
                )
                return {**counts, "stopped": stop.detail}
            report_progress(claim, done, len(pairs))
        return counts

    def judge(self, conflict_id: int) -> Outcome:
        """Ask about one pair and keep what comes of it. Raises what `ask` raises when nobody answers."""
        pairs = list_conflicts(owner=EVERYONE).filter(pk=conflict_id, **SETTLED)
        conflict = pairs.select_related("older", "newer").first()
        if conflict is None:
            return Outcome.CHANGED
        pair = Pair(side_of(conflict.older), side_of(conflict.newer))
        try:
            answer = ask(question_about(conflict, pair))
        except AnswerInvalid:
            FactConflict.objects.filter(pk=conflict_id).update(invalid_answers=F("invalid_answers") + 1)
            log.warning("verdict_invalid", conflict_id=conflict_id)
            return Outcome.INVALID
        return self.keep(conflict, pair, answer)

    def keep(
        self,
        conflict: FactConflict,
        asked: Pair,
        answer: Answer[JudgeAnswer],
    ) -> Outcome:
        """Store the verdict and carry it out, in one transaction; nothing when the pair changed since it was asked."""
        mode = mode_of(CONTRADICTION_JUDGE)
        with transaction.atomic():
            lock_facts_of(conflict.owner_id)
            if mode is Mode.OFF or not self.is_unchanged(conflict, asked):
                return Outcome.CHANGED
            kind, is_shadow = answer.value.verdict, mode is Mode.SHADOW
            event = None if is_shadow or kind == UNSURE else self.decide(conflict, kind)
            store_verdict(conflict, answer, event, is_shadow=is_shadow, now=self.now)
        if is_shadow:
            return Outcome.SHADOW
        return Outcome.LEFT if event is None or event.kind == EventKind.REFUSED else Outcome.DECIDED

    def is_unchanged(self, conflict: FactConflict, asked: Pair) -> bool:
        """Say whether the pair is open and both facts say what the model was asked about. Needs the lock."""
        rows = lock_rows(conflict.owner_id, [asked.older.id, asked.newer.id])
        is_open = FactConflict.objects.filter(pk=conflict.pk, state=ConflictState.OPEN).exists()
        return is_open and all(
            side.id in rows and is_settled(rows[side.id]) and rows[side.id].content == side.content
            for side in (asked.older, asked.newer)
        )

    def decide(self, conflict: FactConflict, kind: str) -> ConsolidationEvent:
        """Hand the decision in, under the invariants that stand above every decider."""
        return apply_decision(
            owner=EVERYONE,
            conflict_id=conflict.pk,
            decision=Decision(kind, conflict.older_id, conflict.newer_id, JUDGED),
            decider=Decider.MODEL,
            actor=ACTOR,
            now=self.now,
            run_id=self.run_id,
        )


def question_about(conflict: FactConflict, pair: Pair) -> Question[JudgeAnswer]:
    """Return what the model is asked about a pair."""
    return Question(
        category=Category.LEARNING,
        task=JUDGE,
        tier=Tier.FAST,
        system=SYSTEM,
        content=render_pair(pair, settings.MINARA.memory_consolidation_guidance),
        answer=JudgeAnswer,
        max_tokens=MAX_TOKENS,
        subject=subject_of(conflict.pk),
        owner_id=conflict.owner_id,
    )


def subject_of(conflict_id: int) -> str:
    """Return how a pair is named in `llm_usage` and among the shadow decisions."""
    return f"fact_conflict:{conflict_id}"


def store_verdict(
    conflict: FactConflict,
    answer: Answer[JudgeAnswer],
    event: ConsolidationEvent | None,
    *,
    is_shadow: bool,
    now: datetime,
) -> None:
    """Keep what the model said, what it cost, and what came of it. Needs a transaction."""
    reason = answer.value.reason  # in its place a code when it carries instructions, secrets or hidden text
    verdict = {
        "owner_id": conflict.owner_id,
        "at": now,
        "kind": answer.value.verdict,
        "reason": HELD_BY_GUARD if guard.judge(reason).is_held else reason.strip(),
        "model": answer.model,
        "cost_usd": answer.cost_usd,
        "usage_id": answer.usage_ids[-1] if answer.usage_ids else None,
        "is_shadow": is_shadow,
        "event": event,
    }
    FactVerdict.objects.update_or_create(conflict=conflict, defaults=verdict)
    if is_shadow:
        record_shadow(
            capability=CONTRADICTION_JUDGE,
            subject=subject_of(conflict.pk),
            owner_id=conflict.owner_id,
            decision={"verdict": answer.value.verdict},
            model=answer.model,
            cost_usd=answer.cost_usd,
            now=now,
        )
