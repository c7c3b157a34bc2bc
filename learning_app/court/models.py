"""The `court_states` table: what the court has multiplied up so far. Source: court.md."""

from typing import ClassVar

from django.db import models

from learning_app.methodologies.models import Methodology


class CourtRecord(models.Model):
    """The state of one methodology, as `core.CourtState` has it: logarithms of products and the detector's figures."""

    methodology = models.OneToOneField(
        Methodology,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="court",
    )
    log_products = models.JSONField()
    detector = models.JSONField()

    class Meta:
        db_table = "court_states"
        constraints: ClassVar = []
