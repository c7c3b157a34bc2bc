"""Events of consolidation and verdicts of a model; conflict pairs stand with the memories. Source: S1 (fact layer)."""

from django.db import models
from django.db.models import Q

from memory_app.facts.core import Decider, EventKind
from memory_app.facts.core.decision import VERDICTS
from memory_app.memories.models import FactConflict
from minara_site.kernel.fields import one_of, usd_field
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.ownership import OwnedRow


class ConsolidationEvent(OwnedRow):
    """One decision about a fact. Holds ids and never content; append-only, and it outlives the facts.

    `fact_id` is what the decision was about, `other_id` the fact that it was compared with. `undoes` names the event
    that this one takes back.
    """

    at = models.DateTimeField()
    kind = models.CharField(max_length=16)
    decider = models.CharField(max_length=8)
    actor = models.CharField(max_length=80)
    fact_id = models.BigIntegerField()
    other_id = models.BigIntegerField(null=True)
    reason = models.CharField(max_length=500, blank=True)
    run_id = models.BigIntegerField(null=True)
    undoes = models.OneToOneField(
        "self",
        on_delete=models.PROTECT,
        null=True,
        related_name="undone_by",
    )

    class Meta:
        db_table = "memory_consolidation_events"
        constraints = [
            one_of("kind", EventKind, "consolidation_event_kind_known"),
            one_of("decider", Decider, "consolidation_event_decider_known"),
        ]
        indexes = [
            models.Index(fields=["owner", "-at", "-id"], name="consolidation_events_newest"),
            models.Index(fields=["-at", "-id"], name="consolidation_events_all"),
            models.Index(fields=["fact_id"], name="consolidation_events_fact"),
            models.Index(fields=["other_id"], condition=Q(other_id__isnull=False), name="consolidation_events_other"),
        ]

    @property
    def is_repeated(self) -> bool:
        """Whether its writer wrote a fact again, and nothing was stored."""
        return self.kind == EventKind.DEDUPLICATED and self.other_id is None

    def mask(self) -> None:
        """Mask the secrets of this copy, which is for a reader who is not the owner."""
        self.reason = mask(self.reason)


class FactVerdict(OwnedRow):
    """What a model said about a conflict pair, once a pair. `event` is the decision that came of it, None in shadow.

    `kind` is a `DecisionKind`, or `unsure`: then the pair waits for a person. `reason` is the model's own sentence,
    which may quote the facts: so it goes with them, and `event`, which outlives them, has a code in its place.
    `usage_id` is the paid call in `llm_usage`.
    """

    conflict = models.OneToOneField(
        FactConflict,
        on_delete=models.CASCADE,
        related_name="verdict",
    )
    at = models.DateTimeField()
    kind = models.CharField(max_length=12)
    reason = models.CharField(max_length=500, blank=True)
    model = models.CharField(max_length=80)
    cost_usd = usd_field()
    usage_id = models.BigIntegerField(null=True)
    is_shadow = models.BooleanField(default=False)
    event = models.OneToOneField(
        ConsolidationEvent,
        on_delete=models.CASCADE,
        null=True,
        related_name="verdict",
    )

    class Meta:
        db_table = "fact_verdicts"
        constraints = [one_of("kind", VERDICTS, "fact_verdict_kind_known")]
        indexes = [models.Index(fields=["owner", "-at", "-id"], name="fact_verdicts_newest")]
