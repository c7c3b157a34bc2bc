"""Which methodologies: in prompts, quarantined, near graduation, waiting for a person. Sources: S2, decisions."""

import math
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from learning_app.methodologies.core.lifecycle import BY_RULE, TrustRules
from learning_app.vocabulary import QuarantinedBy
from minara_site.config import CourtMode

NEAR_BOUND, NEAR_USES = 0.10, 5
"""How little a methodology lacks that is near graduation: of the bound, or of the uses."""


def trust_rules() -> TrustRules:
    """Return the four numbers of the settings."""
    config = settings.MINARA
    return TrustRules(
        config.injection_threshold,
        config.min_uses,
        config.demotion_wilson_threshold,
        config.min_uses_before_demotion,
    )


def is_court_enforced() -> bool:
    """Say whether prompts carry only what the court lets through."""
    return settings.MINARA.methodology_court is CourtMode.ENFORCE


class MethodologyQuerySet(models.QuerySet[Any]):
    """Methodologies."""

    def graduated(self) -> Self:
        """Keep what is out of quarantine and not held."""
        return self.filter(quarantine=0, held_at__isnull=True)

    def injected(self) -> Self:
        """Keep what prompts may carry now; `selectors.list_injected` judges their texts by today's rules besides."""
        config = settings.MINARA
        rows = self.graduated().filter(confidence__gte=config.injection_threshold)
        return rows.filter(beats_chance=True, decay_at__isnull=True) if is_court_enforced() else rows

    def injected_for(self, owner: Any) -> Self:
        """Keep what prompts of this user may carry: what the demo made up reaches the user `default` alone."""
        rows = self.injected()
        return rows if owner.is_default else rows.filter(is_demo=False)

    def at_bar(self) -> Self:
        """Keep what an operator may release: enough uses, and the bound holds."""
        config = settings.MINARA
        return self.filter(times_used__gte=config.min_uses, confidence__gte=config.injection_threshold)

    def quarantined(self) -> Self:
        """Keep what waits in quarantine and is not held."""
        return self.filter(quarantine=1, held_at__isnull=True)

    def near_graduation(self) -> Self:
        """Keep what the rule may soon let out: half the uses, and the bound is close, or uses are missing above all.

        Uses are missing above all where at most five are, and so far as many were right as the bar asks for.
        """
        config = settings.MINARA
        bar, uses = config.injection_threshold, config.min_uses
        is_young = Q(
            times_used__gte=uses - NEAR_USES,
            times_used__lt=uses,
            times_correct__gte=bar * F("times_used"),
        )
        waiting = self.quarantined().filter(quarantined_by__in=BY_RULE, times_used__gte=math.ceil(uses / 2))
        return waiting.filter(Q(confidence__gte=bar - NEAR_BOUND) | is_young)

    def kept_back(self) -> Self:
        """Keep what reached the bar, quarantined by a person, the scan or the judge, and changed since it was read."""
        rows = self.quarantined().exclude(quarantined_by=QuarantinedBy.RULE).at_bar()
        return rows.filter(Q(reviewed_at__isnull=True) | Q(reviewed_at__lt=F("updated_at")))

    def unread(self) -> Self:
        """Keep what collects evidence and no person has read."""
        config = settings.MINARA
        is_below = Q(times_used__lt=config.min_uses) | Q(confidence__lt=config.injection_threshold)
        rows = self.quarantined().filter(reviewed_at__isnull=True)
        return rows.filter(is_below | Q(quarantined_by=QuarantinedBy.RULE))

    def needs_person(self) -> Self:
        """Keep what the review queue shows: what is unread, and what is kept back."""
        return self.quarantined().filter(Q(reviewed_at__isnull=True) | Q(pk__in=self.kept_back().values("pk")))
