"""Outcomes move the counters of methodologies, and with them states. Sources: S2, court.md (two hands)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import Exists, OuterRef, Q

from learning_app.methodologies.core.lifecycle import INSTANCE_HAND, Trust, ask_rule, count
from learning_app.methodologies.models import Methodology, Tally
from learning_app.methodologies.querysets import trust_rules
from learning_app.methodologies.services.lifecycle import Move, apply_moves, lock_rows
from learning_app.vocabulary import LifecycleKind
from minara_site.access.models import OPERATORS_GROUP, ApiKey, User

Hands = dict[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class NewOutcome:
    """That a methodology was right or wrong, by whose `hand`, and by which case, where one says so.

    `reverses` is the event of an outcome that is counted no more. After one that `asks` nothing the rule waits for the
    next. `details` go into the lifecycle.
    """

    number: int
    is_correct: bool
    case_id: int | None = None
    hand: int = INSTANCE_HAND
    reverses: int | None = None
    asks: bool = True
    details: Mapping[str, str | int] = field(default_factory=dict)


def apply_outcomes(
    outcomes: Sequence[NewOutcome],
    *,
    actor: str,
    now: datetime,
) -> dict[int, Methodology]:
    """Count outcomes in their order; each graduates or demotes where the rule says so. Needs a transaction.

    Where something is reversed the rule is asked once, at the end: between lie counts that never were. Returns the rows
    as they are now, by number.
    """
    rows, rules = lock_rows(outcome.number for outcome in outcomes), trust_rules()
    tallies, needs_two = load_hands(rows), needs_two_hands()
    moves = []
    trusts = {pk: row.trust for pk, row in rows.items()}
    corrected = {outcome.number for outcome in outcomes if outcome.reverses is not None}
    last = {outcome.number: place for place, outcome in enumerate(outcomes)}
    for place, outcome in enumerate(outcomes):
        number, is_reversed = outcome.number, outcome.reverses is not None
        trust = count(trusts[number], correct=outcome.is_correct, is_reversed=is_reversed)
        hands, sign = tallies[number], -1 if is_reversed else 1
        used, right = hands.get(outcome.hand, (0, 0))
        hands[outcome.hand] = (used + sign, right + sign * outcome.is_correct)
        change = None
        if outcome.asks and (number not in corrected or place == last[number]):
            trust, change = ask_rule(replace(trust, hands=single_hands(hands) if needs_two else ()), rules)
        trusts[number] = trust
        reverses = {} if outcome.reverses is None else {"reverses": outcome.reverses}
        details = {"correct": outcome.is_correct, **outcome.details, **reverses}
        moves += [
            Move(rows[number], kind, columns_of(trust), details, case_id=outcome.case_id)
            for kind in filter(None, (LifecycleKind.OUTCOME_RECORDED, change))
        ]
    apply_moves(moves, actor=actor, now=now, act="methodology_outcome_recorded")
    return rows


def columns_of(trust: Trust) -> dict[str, int | float | str]:
    """Return the columns of a methodology that say so."""
    return {
        "times_used": trust.times_used,
        "times_correct": trust.times_correct,
        "confidence": trust.bound if trust.times_used else settings.MINARA.initial_confidence,
        "quarantine": int(trust.quarantine),
        "quarantined_by": trust.quarantined_by.value,
    }


def load_hands(numbers: Iterable[int]) -> defaultdict[int, Hands]:
    """Return the uses of each hand, and how many of them were right, by methodology. One query."""
    found: defaultdict[int, Hands] = defaultdict(dict)
    rows = Tally.objects.filter(methodology__in=list(numbers))
    for number, hand, used, right in rows.values_list("methodology_id", "hand", "used", "right"):
        found[number][hand] = (used, right)
    return found


def single_hands(hands: Hands) -> tuple[tuple[int, int], ...]:
    """Return what each owner has who has anything; the instance's own is never left out."""
    return tuple(counts for hand, counts in hands.items() if hand != INSTANCE_HAND and counts[0])


def needs_two_hands() -> bool:
    """Say whether more than one enabled user is no operator: one that can sign in, or has a key."""
    has_key = Exists(ApiKey.objects.filter(user=OuterRef("pk"), revoked_at__isnull=True))
    may_enter = ~Q(password__startswith=UNUSABLE_PASSWORD_PREFIX) | has_key
    others = User.objects.filter(may_enter, is_active=True).exclude(groups__name=OPERATORS_GROUP)
    return len(others.values_list("pk", flat=True)[:2]) > 1
