"""The `bundle_transfers` table: exports and imports that people ran in the browser, with what they were shown."""

from enum import StrEnum

from django.db import models
from django.db.models import Q

from minara_site.kernel.fields import one_of
from minara_site.kernel.ownership import OwnedRow


class Direction(StrEnum):
    """Out of the store, or into it."""

    EXPORT = "export"
    IMPORT = "import"


class TransferState(StrEnum):
    """Where a transfer stands. An import is read, shown, then applied exactly as shown."""

    WAITING = "waiting"
    SHOWN = "shown"
    REFUSED = "refused"
    APPLYING = "applying"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"


class BundleTransfer(OwnedRow):
    """One export or import. `file_name` names its stored file until it expires.

    `format` is `minara` for our own tree, else the product that wrote the file. `plan` is what the preview showed, and
    `plan_sha256` its hash: apply does exactly that plan, or refuses.
    """

    direction = models.CharField(max_length=8)
    state = models.CharField(max_length=10, default=TransferState.WAITING)
    format = models.CharField(max_length=16)
    options = models.JSONField(default=dict)
    actor = models.CharField(max_length=80)
    given_name = models.CharField(max_length=255, blank=True)
    file_name = models.CharField(max_length=64, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    size_bytes = models.PositiveBigIntegerField(default=0)
    plan = models.JSONField(null=True)
    plan_sha256 = models.CharField(max_length=64, blank=True)
    result = models.JSONField(null=True)
    error = models.CharField(max_length=500, blank=True)
    run_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "bundle_transfers"
        constraints = [
            one_of("direction", Direction, "bundle_transfer_direction_known"),
            one_of("state", TransferState, "bundle_transfer_state_known"),
        ]
        indexes = [
            models.Index(
                fields=["owner", "-created_at", "-id"],
                name="bundle_transfers_newest",
            ),
            models.Index(
                fields=["expires_at"],
                condition=~Q(file_name=""),
                name="bundle_transfers_expiry",
            ),
        ]

    @property
    def is_asked_by_owner(self) -> bool:
        """Whether its owner asked for it; an export for anybody else is masked."""
        return bool(self.actor == f"user:{self.owner_id}")
