"""Demotion by rule outside of an outcome: after a change of the settings, an import, or by the doctor."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.conf import settings

from learning_app.methodologies.core.lifecycle import should_demote
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.querysets import trust_rules
from learning_app.methodologies.services.lifecycle import Move, apply_moves
from learning_app.methodologies.services.outcomes import load_hands, needs_two_hands, single_hands
from learning_app.vocabulary import LifecycleKind


def list_below() -> Any:
    """Return the methodologies in prompts whose bound is below the demotion threshold after enough uses."""
    config = settings.MINARA
    return Methodology.objects.filter(
        quarantine=0,
        times_used__gte=config.min_uses_before_demotion,
        confidence__lt=config.demotion_wilson_threshold,
    ).order_by("pk")


def find_by_one_owner() -> set[int]:
    """Return which of those would not be there without the outcomes of some single owner, so that they stay."""
    rows, rules = list(list_below()) if needs_two_hands() else [], trust_rules()
    hands = load_hands(row.pk for row in rows)
    return {row.pk for row in rows if not should_demote(replace(row.trust, hands=single_hands(hands[row.pk])), rules)}


def list_fallen() -> Any:
    """Return what the rule demotes, with each single owner's outcomes and without."""
    return list_below().exclude(pk__in=find_by_one_owner())


def demote_fallen(
    *,
    actor: str,
    now: datetime,
    kind: LifecycleKind = LifecycleKind.SYNTHESIS_AUTO_DEMOTE,
    reason: str = "",
) -> int:
    """Quarantine what fell, never the reverse; return how many. Needs a transaction."""
    rows = list(list_fallen().select_for_update())
    apply_moves([Move(row, kind, {"quarantine": 1}) for row in rows], actor=actor, now=now, reason=reason)
    return len(rows)
