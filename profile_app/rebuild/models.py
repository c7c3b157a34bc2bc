"""What each rebuild read, asked and changed, and when its owner looked at it. Source: decisions (rebuild trail)."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from minara_site.kernel.fields import one_of
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow
from profile_app.rebuild.core import RUN_PREFIX, Flow, RunOutcome


class RebuildRun(OwnedRow):
    """One run of a flow for its owner; cost, model and tokens are in `llm_usage`, by `subject`.

    `reason` is the code of what kept it from asking or failed it. `read` counts rows and has the figures that were
    asked about; the cursors are ids by source. `wrote` lists `{kind, key, name, hash?, turn?, evidence?}`, `dropped`
    counts what of the answer did not count, by why.
    """

    flow = models.CharField(max_length=16)
    outcome = models.CharField(max_length=10, default=RunOutcome.RUNNING)
    reason = models.CharField(max_length=60, blank=True)
    requested_by = models.CharField(max_length=80, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    read = models.JSONField(default=dict)
    cursors_before = models.JSONField(default=dict)
    cursors_after = models.JSONField(default=dict)
    wrote = models.JSONField(default=list)
    dropped = models.JSONField(default=dict)

    class Meta:
        db_table = "rebuild_runs"
        constraints = [
            one_of("flow", Flow, "rebuild_flow_known"),
            one_of("outcome", RunOutcome, "rebuild_outcome_known"),
        ]
        indexes = [
            models.Index(fields=["owner", "-id"], name="rebuild_runs_newest"),
            models.Index(fields=["owner", "flow", "-id"], name="rebuild_runs_of_flow"),
        ]

    @property
    def subject(self) -> str:
        """How model calls and change sets name it."""
        return f"{RUN_PREFIX}{self.pk}"


class ChangesVisit(models.Model):
    """When an owner last looked at what is new about them; `since` is when the visit before ended, None before one."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+")
    seen_at = models.DateTimeField()
    since = models.DateTimeField(null=True)

    objects: ClassVar[Any] = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "changes_visits"
