"""The tables of the court: bets that count once, the controls beside them, and what they come to. Source: court.md."""

from django.db import models
from django.db.models import F, Q

from learning_app.court.core import ControlWeights
from learning_app.methodologies.models import Methodology
from minara_site.kernel.core.symbols import MAX_CHARS


class Control(models.Model):
    """How the bets of the eight horizons after a case went: shared by every methodology, owner and direction.

    `grid_at` is where its windows begin, and `due_at` when the last one ends. `known_at` is the moment of the last
    price that it needed, None until it is judged.
    """

    symbol = models.CharField(max_length=MAX_CHARS)
    horizon_hours = models.PositiveIntegerField()
    band_pct = models.FloatField()
    grid_at = models.DateTimeField()
    due_at = models.DateTimeField()
    up = models.FloatField(default=0.0)
    down = models.FloatField(default=0.0)
    inside = models.FloatField(default=0.0)
    ups = models.PositiveSmallIntegerField(default=0)
    downs = models.PositiveSmallIntegerField(default=0)
    insides = models.PositiveSmallIntegerField(default=0)
    known_at = models.DateTimeField(null=True)
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "case_controls"
        constraints = [
            models.UniqueConstraint(
                fields=["symbol", "horizon_hours", "grid_at", "band_pct", "is_demo"],
                name="one_control",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at", "id"], condition=Q(known_at__isnull=True), name="controls_waiting"),
        ]

    @property
    def weights(self) -> ControlWeights:
        return ControlWeights(self.up, self.down, self.inside, self.ups, self.downs, self.insides)


class Block(models.Model):
    """One bet of a methodology: the time in which no other case counts, for its owner (`is_own`) or the instance.

    `hand` is whose cases it has, as of a tally, and `case_id` the first of them. `counted_case` moved the counters,
    and `is_right` says how. `score` and `chance`, both in [0, 1], are the means of its clear cases with a control;
    `known_at` is when the last price was there that they need.
    """

    methodology = models.ForeignKey(
        Methodology,
        on_delete=models.CASCADE,
        related_name="blocks",
        db_index=False,
    )
    is_own = models.BooleanField()
    hand = models.BigIntegerField()
    case_id = models.BigIntegerField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    decided_at = models.DateTimeField()
    recorded_at = models.DateTimeField()
    is_replayed = models.BooleanField()
    counted_case = models.BigIntegerField(null=True)
    is_right = models.BooleanField(null=True)
    is_waiting = models.BooleanField(default=False)
    score = models.FloatField(null=True)
    chance = models.FloatField(null=True)
    known_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "methodology_blocks"
        constraints = [
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="block_ends_later"),
            models.CheckConstraint(
                condition=Q(score__isnull=True, chance__isnull=True, known_at__isnull=True)
                | Q(score__range=(0, 1), chance__range=(0, 1), known_at__isnull=False),
                name="block_counted_whole",
            ),
        ]
        indexes = [
            models.Index(fields=["methodology", "is_own", "ends_at"], name="blocks_in_time"),
            models.Index(
                fields=["methodology", "known_at", "starts_at", "id"],
                condition=Q(known_at__isnull=False, is_own=False),
                name="blocks_known",
            ),
        ]
