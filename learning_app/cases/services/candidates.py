"""A model writes methodologies out of clusters of good cases; each begins in quarantine. Source: S2, issue 18."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from learning_app.capabilities import METHODOLOGY_CANDIDATES
from learning_app.cases.core.proposing import (
    MAX_TOKENS,
    SYSTEM,
    ClusterKey,
    GoodCase,
    ProposedMethodology,
    find_clusters,
    origin_of,
    render_cluster,
)
from learning_app.cases.models import INSTANCE, CandidateCase, TradingCase
from learning_app.cases.services.asking import CHANGED, IN_SHADOW, INVALID, Pass, ask_each, describe_cases
from learning_app.methodologies.services.create import MethodologyDraft, create_methodology
from learning_app.vocabulary import OutcomeState
from minara_site.kernel.errors import Invalid
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.governance.services import record_shadow
from minara_site.kernel.guard import core as guard
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.gateway import Answer, AnswerInvalid, Question, ask
from minara_site.kernel.market.outcome import Direction

TASK = "learning.candidates"
MAX_QUESTIONS = 3  # in a pass
MAX_AGE = timedelta(days=90)
MAX_READ = 20_000  # of the newest good cases
NEW, KNOWN = "candidates", "candidates_known"
WITHHELD = "(withheld)"

Cluster = tuple[ClusterKey, list[int]]


def propose_candidates(run: Pass) -> None:
    """Ask about the largest clusters of good cases that no question was about yet."""
    clusters = find_clusters(list_good(mode_of(METHODOLOGY_CANDIDATES), now=run.now))[:MAX_QUESTIONS]
    ask_each(run, METHODOLOGY_CANDIDATES, clusters, propose)


def list_good(mode: Mode, *, now: datetime) -> list[GoodCase]:
    """Return the good cases of the last 90 days that the instance's prices judged, the newest first.

    Left out are neutral, backdated and held ones, and those asked about before; asked in shadow counts in shadow only.
    """
    used = Q(candidate__isnull=False) if mode is Mode.SHADOW else Q(candidate__is_shadow=False)
    rows = TradingCase.objects.filter(
        outcome_state=OutcomeState.CONFIRMED_GOOD,
        judged_by=INSTANCE,
        backdated=False,
        decided_at__gt=now - MAX_AGE,
        held_at__isnull=True,
        is_demo=False,
        direction__in=[Direction.BULLISH, Direction.BEARISH],
    ).exclude(used)
    found = rows.order_by("-decided_at", "-pk").values_list("pk", "asset", "direction", "horizon_hours")[:MAX_READ]
    return [GoodCase(pk, asset, Direction(direction), hours) for pk, asset, direction, hours in found]


def propose(run: Pass, cluster: Cluster) -> str:
    """Ask about one cluster and store the answer in quarantine; return what came of it. Raises what `ask` raises.

    A cluster that was answered is asked about no more, whatever the answer.
    """
    (key, ids), now = cluster, run.now
    try:
        answer = ask(question_about(key, ids))
    except AnswerInvalid:
        mark_asked(
            ids,
            is_shadow=mode_of(METHODOLOGY_CANDIDATES) is Mode.SHADOW,
            now=now,
        )
        raise
    mode = mode_of(METHODOLOGY_CANDIDATES)
    with transaction.atomic():
        rows = TradingCase.objects.filter(pk__in=ids, held_at__isnull=True)
        if mode is Mode.OFF or len(rows.order_by("pk").select_for_update().values_list("pk")) < len(ids):
            return CHANGED
        mark_asked(ids, is_shadow=mode is Mode.SHADOW, now=now)
        return store_shadow_result(ids, answer, now=now) if mode is Mode.SHADOW else store(run, cluster, answer.value)


def store(run: Pass, cluster: Cluster, proposed: ProposedMethodology) -> str:
    """Hand the answer in as anybody's methodology: under the guard, never twice, quarantined."""
    key, ids = cluster
    draft = MethodologyDraft(
        proposed.name,
        proposed.methodology,
        key.structured(proposed),
        proposed.evidence,
    )
    try:
        created = create_methodology(
            draft=draft,
            actor=run.actor,
            now=run.now,
            origin=origin_of(ids),
        )
    except Invalid:
        return INVALID
    return NEW if created.is_new else KNOWN


def question_about(key: ClusterKey, ids: Sequence[int]) -> Question[ProposedMethodology]:
    """Return what the model is asked about a cluster."""
    return Question(
        category=Category.LEARNING,
        task=TASK,
        tier=Tier.MAIN,
        system=SYSTEM,
        content=render_cluster(
            key,
            describe_cases(list(TradingCase.objects.filter(pk__in=ids).order_by("pk"))),
        ),
        answer=ProposedMethodology,
        max_tokens=MAX_TOKENS,
        subject=subject_of(ids),
    )


def subject_of(ids: Sequence[int]) -> str:
    """Return how a cluster is named in `llm_usage` and among the shadow decisions: by its newest case."""
    return f"good_cases:{ids[0]}"


def mark_asked(ids: Sequence[int], *, is_shadow: bool, now: datetime) -> None:
    """Note that a question was about these cases, those that are still there."""
    there = TradingCase.objects.filter(pk__in=ids).values_list("pk", flat=True)
    CandidateCase.objects.bulk_create(
        [CandidateCase(case_id=pk, asked_at=now, is_shadow=is_shadow) for pk in there],
        update_conflicts=True,
        unique_fields=["case"],
        update_fields=["asked_at", "is_shadow"],
    )


def store_shadow_result(
    ids: Sequence[int],
    answer: Answer[ProposedMethodology],
    *,
    now: datetime,
) -> str:
    """Keep what would have been written, without words that the guard refuses."""
    said = {name: getattr(answer.value, name) for name in ("name", "methodology", "evidence")}
    is_refused = guard.judge("\n".join(said.values())).is_held
    record_shadow(
        capability=METHODOLOGY_CANDIDATES,
        subject=subject_of(ids),
        owner_id=None,
        decision={"name": WITHHELD} if is_refused else said,
        model=answer.model,
        cost_usd=answer.cost_usd,
        now=now,
    )
    return IN_SHADOW
