"""The tables of institution runs: runs, what their roles answered, their scores, and what those counted. Source: S2."""

import uuid

from django.db import models
from django.db.models import Q

from learning_app.institution.core.ladder import DAYS, DIRECTION_OF
from learning_app.methodologies.models import Methodology
from learning_app.vocabulary import InstitutionPhase, InstitutionState, LadderWindow, OutcomeState, Rating
from minara_site.kernel.fields import amount_field, demo_index, one_of, usd_field
from minara_site.kernel.guard.masking import mask_nested
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.ownership import OwnedRow

OPEN_STATES = (InstitutionState.QUEUED, InstitutionState.RUNNING)


def new_uid() -> str:
    """Return the id of a new run."""
    return str(uuid.uuid4())


class InstitutionRun(OwnedRow):
    """One committee on one ticker, and what it decided.

    `feeds` is fixed at creation: an operator or the command asked for it, so that its scores count for methodologies.
    `as_of` is the moment of the past that a replay by the command looks from; a replay feeds nothing. `inputs` is what
    was collected for the roles, once; None until then. `decided_at` is when the decision was stored, and from then on
    the ladder counts. `cited` are ids of methodologies. `calls` and `cost_usd` count every model call, lost ones too.
    """

    uid = models.CharField(
        max_length=36,
        unique=True,
        default=new_uid,
        editable=False,
    )
    ticker = models.CharField(max_length=32)
    state = models.CharField(max_length=9, default=InstitutionState.QUEUED)
    feeds = models.BooleanField(default=False)
    actor = models.CharField(max_length=80)
    as_of = models.DateTimeField(null=True)
    job_run_id = models.BigIntegerField(null=True)
    inputs = models.JSONField(null=True)
    rating = models.CharField(max_length=4, blank=True)
    confidence = models.FloatField(null=True)
    horizon_days = models.PositiveSmallIntegerField(null=True)
    cases = models.JSONField(null=True)
    cited = models.JSONField(default=list)
    calls = models.PositiveSmallIntegerField(default=0)
    cost_usd = usd_field(default=0)
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "institution_runs"
        constraints = [
            one_of("state", InstitutionState, "institution_state_known"),
            models.CheckConstraint(
                condition=Q(state=InstitutionState.DONE, decided_at__isnull=False, rating__in=list(Rating))
                | (~Q(state=InstitutionState.DONE) & Q(decided_at__isnull=True, rating="")),
                name="institution_decision_whole",
            ),
            models.CheckConstraint(
                condition=Q(confidence__isnull=True) | Q(confidence__range=(0, 1)),
                name="institution_confidence_0_to_1",
            ),
            models.CheckConstraint(
                condition=Q(feeds=False) | Q(as_of__isnull=True),
                name="institution_replay_feeds_nothing",
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "-created_at", "-id"], name="institution_owner_newest"),
            models.Index(fields=["-created_at", "-id"], name="institution_newest"),
            models.Index(fields=["owner", "ticker", "-decided_at"], name="institution_of_ticker"),
            models.Index(
                fields=["id"],
                condition=Q(state__in=[state.value for state in OPEN_STATES]),
                name="institution_open",
            ),
            demo_index("institution_demo"),
        ]

    def __str__(self) -> str:
        return f"{self.ticker} {self.state}"

    @property
    def is_open(self) -> bool:
        """Whether it waits or works."""
        return self.state in OPEN_STATES

    @property
    def direction(self) -> Direction:
        """What its decision expects of the price."""
        return DIRECTION_OF[Rating(self.rating)]

    def mask(self) -> None:
        """Mask the secrets of this copy and of what its roles said, for a reader who is not the owner."""
        self.cases = mask_nested(self.cases)
        for output in self.outputs.all():
            output.fields = mask_nested(output.fields)

    @property
    def subject(self) -> str:
        """How its model calls are named in `llm_usage`."""
        return f"institution_run:{self.uid}"


class InstitutionRoleOutput(models.Model):
    """What the role at one position of a run answered, once; texts that the guard refused are withheld in `fields`."""

    run = models.ForeignKey(
        InstitutionRun,
        on_delete=models.CASCADE,
        related_name="outputs",
        db_index=False,
    )
    position = models.PositiveSmallIntegerField()
    phase = models.CharField(max_length=10)
    role = models.CharField(max_length=20)
    kind = models.CharField(max_length=20)
    fields = models.JSONField()
    is_withheld = models.BooleanField(default=False)
    usage_ids = models.JSONField(default=list)
    cost_usd = usd_field(default=0)
    model = models.CharField(max_length=80)
    at = models.DateTimeField()

    class Meta:
        db_table = "institution_role_outputs"
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="one_output_per_position"),
            one_of("phase", InstitutionPhase, "institution_phase_known"),
        ]


class InstitutionReflection(models.Model):
    """One look back at a decision: a rung of the ladder, due when its window is over, or a snapshot.

    `lazy` is phase 0 of `for_run`, `manual` by hand; both are scored when they are made, `pending` without a price.
    `pnl_pct` is the change of the price in percent in the direction of the decision. After 30 days `horizon_state` says
    how the decision stood when the horizon was over that it stated, empty where that cannot be said.
    """

    run = models.ForeignKey(
        InstitutionRun,
        on_delete=models.CASCADE,
        related_name="reflections",
        db_index=False,
    )
    window = models.CharField(max_length=8)
    due_at = models.DateTimeField()
    outcome_state = models.CharField(max_length=16, default=OutcomeState.PENDING)
    pnl_pct = models.FloatField(null=True)
    entry_price = amount_field(null=True)
    entry_price_at = models.DateTimeField(null=True)
    exit_price = amount_field(null=True)
    exit_price_at = models.DateTimeField(null=True)
    horizon_state = models.CharField(max_length=16, blank=True)
    horizon_pnl_pct = models.FloatField(null=True)
    scored_at = models.DateTimeField(null=True)
    for_run = models.ForeignKey(
        InstitutionRun,
        on_delete=models.CASCADE,
        related_name="retrospects",
        null=True,
        db_index=False,
    )

    class Meta:
        db_table = "institution_reflections"
        constraints = [
            models.UniqueConstraint(
                fields=["run", "window"],
                condition=Q(window__in=[window.value for window in DAYS]),
                name="one_reflection_per_window",
            ),
            models.UniqueConstraint(
                fields=["for_run"],
                condition=Q(for_run__isnull=False),
                name="one_retrospect_per_run",
            ),
            one_of("window", LadderWindow, "institution_window_known"),
            one_of("outcome_state", OutcomeState, "institution_outcome_known"),
            models.CheckConstraint(
                condition=Q(window__in=[LadderWindow.LAZY, LadderWindow.MANUAL])
                | Q(outcome_state=OutcomeState.PENDING, scored_at__isnull=True)
                | (~Q(outcome_state=OutcomeState.PENDING) & Q(scored_at__isnull=False)),
                name="institution_scored_whole",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "due_at"], name="institution_ladder_of_run"),
            models.Index(
                fields=["due_at", "id"],
                condition=Q(scored_at__isnull=True),
                name="institution_ladder_due",
            ),
        ]


class InstitutionOutcome(models.Model):
    """That a methodology got its one outcome of a ticker, a window and a UTC day, and by which reflection."""

    methodology = models.ForeignKey(
        Methodology,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    ticker = models.CharField(max_length=32)
    window = models.CharField(max_length=8)
    day = models.DateField()
    reflection = models.ForeignKey(
        InstitutionReflection,
        on_delete=models.CASCADE,
        related_name="fed",
    )
    at = models.DateTimeField()

    class Meta:
        db_table = "institution_outcomes"
        constraints = [
            models.UniqueConstraint(
                fields=["methodology", "ticker", "window", "day"],
                name="one_institution_outcome_a_day",
            )
        ]
