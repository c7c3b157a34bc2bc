"""The `workspaces` table: where an owner's folder is, and what was wrong with it when it was last read."""

from typing import Any, ClassVar

from django.db import models

from minara_site.kernel.ownership import OwnedQuerySet, owner_key


class Workspace(models.Model):
    """The folder of an owner. `path` is empty for the usual one in the data folder.

    `mark` is what the folder's mark file says: a folder without it is not this workspace's, so that no machine takes
    a missing folder for deleted files. `problems` is `[{"name", "code", "detail"}]` of the last reading.
    """

    owner = owner_key()
    path = models.TextField(blank=True)
    mark = models.CharField(max_length=36)
    problems = models.JSONField(default=list)
    read_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()

    objects: ClassVar[Any] = OwnedQuerySet.as_manager()

    class Meta:
        db_table = "workspaces"
        constraints: ClassVar = [models.UniqueConstraint(fields=["owner"], name="one_workspace_per_owner")]
