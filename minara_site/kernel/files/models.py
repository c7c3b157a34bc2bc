"""The tables `stored_files` and `stored_parts`: a file in the database, in parts of at most 1 MiB."""

from django.db import models


class StoredFile(models.Model):
    """A file under a name that nobody guesses; `sha256` is empty until it is whole. It goes when it expires."""

    name = models.CharField(primary_key=True, max_length=64)
    size_bytes = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "stored_files"
        constraints = []


class StoredPart(models.Model):
    """One part of a file; numbers count from 0, and all but the last are of one size."""

    file = models.ForeignKey(StoredFile, on_delete=models.CASCADE, db_index=False)
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        db_table = "stored_parts"
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="one_stored_part")]
