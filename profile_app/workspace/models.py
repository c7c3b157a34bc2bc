"""The `workspaces` table: an owner's folder on one machine, and what was wrong with it when it was last read."""

from django.db import models

from minara_site.kernel.ownership import OwnedRow


class Workspace(OwnedRow):
    """A folder of an owner on one machine; there may be others on other machines.

    `path` is empty for the usual one in the data folder. `mark` is what the folder's mark file says: a folder without
    it is not this one, so that no machine takes a missing folder for deleted files. `mark_stamp` is that file's time:
    who copies a data folder to another machine copies the mark, too, and its time tells the copy. `copies` says by name
    what this folder was last known to hold. `problems` is `[{"name", "code", "detail"}]` of the last reading.
    """

    path = models.TextField(blank=True)
    mark = models.CharField(max_length=36)
    mark_stamp = models.CharField(max_length=60, blank=True)
    copies = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    read_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "workspaces"
        constraints = [models.UniqueConstraint(fields=["mark"], name="one_workspace_per_mark")]
