"""Asking the two stages about one entry. No transaction is open meanwhile, and nothing is written here. Source: S0."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings

from memory_app.roles.core import Classification
from memory_app.roles.core.declarations import DeclaredRole, PriceDelta
from memory_app.roles.core.prompts import (
    STAGE_ONE_SYSTEM,
    STAGE_TWO_SYSTEM,
    Case,
    ClassifyDecision,
    DrawLesson,
    stage_one_content,
    stage_two_content,
)
from memory_app.roles.models import RoleMemory
from memory_app.roles.posthoc import EvidenceContext, collect_evidence
from memory_app.roles.posthoc.collect import EvidenceSubject
from memory_app.roles.selectors import subject_of
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.gateway import Answer, Question, ask
from minara_site.kernel.market.core.evidence import EvidenceItem
from minara_site.kernel.market.outcome import Outcome

STAGE_ONE, STAGE_TWO = "roles.stage1", "roles.stage2"
STAGE_ONE_TOKENS = 1_024
STAGE_TWO_TOKENS = 1_024
NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a stage answered: the text, the row of usage, the model and what it cost."""

    text: str
    usage_id: int | None
    model: str
    cost_usd: Decimal


def gather(
    entry: RoleMemory,
    declared: DeclaredRole,
    *,
    now: datetime,
) -> tuple[EvidenceItem, ...]:
    """Return the evidence of an entry whose outcome is known: what is stored, else what its sources say now."""
    if entry.evidence is not None:
        return tuple(EvidenceItem.from_json(item) for item in entry.evidence)
    context = EvidenceContext(
        entry.owner,
        entry.decided_at,
        known_at(entry, now),
        now,
    )
    decision = EvidenceSubject(entry.pk, entry.asset, entry.inputs)
    return collect_evidence(decision, declared.policy.post_hoc_probes, context)


def case_of(
    entry: RoleMemory,
    declared: DeclaredRole,
    evidence: tuple[EvidenceItem, ...],
    *,
    now: datetime,
) -> Case:
    """Return an entry as the stages read it."""
    probe = declared.policy.outcome_probe
    return Case(
        role_label=declared.role.label,
        decision=entry.decision,
        inputs=entry.inputs if isinstance(entry.inputs, Mapping) else {},
        decided_at=entry.decided_at,
        outcome=Outcome(str(entry.outcome)),
        pnl_pct=entry.pnl_pct,
        window_hours=probe.window_hours if isinstance(probe, PriceDelta) else None,
        outcome_at=known_at(entry, now),
        noise_band_pct=settings.MINARA.noise_band_pct,
        evidence=evidence,
    )


def known_at(entry: RoleMemory, now: datetime) -> datetime:
    """Return when the outcome was known."""
    return entry.outcome_at or now


def classify(entry: RoleMemory, case: Case) -> tuple[Classification, Reply]:
    """Ask Stage 1 why a decision was not right. Raises what the gateway raises."""
    answer = ask(stage_one_question(entry, case))
    return answer.value.classification, reply_of(answer, answer.value.narrative)


def draw_lesson(
    entry: RoleMemory,
    declared: DeclaredRole,
    case: Case,
    classification: Classification,
    narrative: str,
) -> Reply:
    """Ask Stage 2 what is to be learned. Raises what the gateway raises, and ValueError for an untrainable class."""
    if not classification.is_trainable:
        raise ValueError(f"nothing is to be learned from {classification}")
    answer = ask(stage_two_question(entry, declared, case, classification, narrative))
    return reply_of(answer, answer.value.lesson)


def stage_one_question(entry: RoleMemory, case: Case) -> Question[ClassifyDecision]:
    """Return what Stage 1 is asked."""
    return Question(
        category=Category.LEARNING,
        task=STAGE_ONE,
        tier=Tier.FAST,
        system=STAGE_ONE_SYSTEM,
        content=stage_one_content(case),
        answer=ClassifyDecision,
        max_tokens=STAGE_ONE_TOKENS,
        subject=subject_of(entry.pk),
        owner_id=entry.owner_id,
    )


def stage_two_question(
    entry: RoleMemory,
    declared: DeclaredRole,
    case: Case,
    classification: Classification,
    narrative: str,
) -> Question[DrawLesson]:
    """Return what Stage 2 is asked."""
    content = stage_two_content(
        case,
        template=declared.role.reflection_prompt,
        failure_modes=declared.role.failure_modes,
        classification=classification,
        narrative=narrative,
    )
    return Question(
        category=Category.LEARNING,
        task=STAGE_TWO,
        tier=Tier.MAIN,
        system=STAGE_TWO_SYSTEM,
        content=content,
        answer=DrawLesson,
        max_tokens=STAGE_TWO_TOKENS,
        subject=subject_of(entry.pk),
        owner_id=entry.owner_id,
    )


def reply_of(answer: Answer[Any], text: str) -> Reply:
    """Return an answer as the entry keeps it; of a repaired one the last row of usage."""
    usage_id = answer.usage_ids[-1] if answer.usage_ids else None
    return Reply(text, usage_id, answer.model, answer.cost_usd)
