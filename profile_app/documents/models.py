"""The tables `documents` and `documents_revisions`: the text in force, what waits beside it, and every version."""

from django.db import models
from django.db.models import Q

from minara_site.kernel.fields import demo_index, one_of
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.ownership import OwnedRow
from profile_app.documents.core import DocumentKind, Origin


class Document(OwnedRow):
    """One text of an owner, by kind and name; `content` is in force at `version`, 0 before the first.

    `held_content` waits for a decision beside it, `discarded_content` is what was discarded last, until its purge.
    `draft` is what its owner is writing on a page, out of `draft_version`; no prompt carries it.
    """

    kind = models.CharField(max_length=16)
    name = models.CharField(max_length=60)
    content = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=0)
    actor = models.CharField(max_length=80, blank=True)
    updated_at = models.DateTimeField()
    held_content = models.TextField(blank=True)
    held_at = models.DateTimeField(null=True)
    discarded_content = models.TextField(blank=True)
    draft = models.TextField(blank=True)
    draft_at = models.DateTimeField(null=True)
    draft_version = models.PositiveIntegerField(default=0, db_default=0)
    rules_version = models.CharField(max_length=16, blank=True)
    is_demo = models.BooleanField(default=False)

    class Meta:
        db_table = "documents"
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "kind", "name"],
                name="one_document_per_name",
            ),
            one_of("kind", DocumentKind, "document_kind_known"),
            models.CheckConstraint(
                condition=Q(held_at__isnull=False) | Q(held_content=""),
                name="document_held_text_is_dated",
            ),
        ]
        indexes = [
            models.Index(fields=["rules_version", "id"], name="documents_rescan"),
            demo_index("documents_demo"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def opened(self) -> tuple[str, int]:
        """What an editor opens: the draft and the version that it was written out of, else those in force."""
        return (self.draft, self.draft_version) if self.draft else (self.content, self.version)

    @property
    def guarded_text(self) -> str:
        """What the guard judges: the text that waits, or else the one in force."""
        return self.held_content if self.held_at else self.content

    def mask(self) -> None:
        """Mask the secrets of this copy for another reader than its owner."""
        self.content, self.held_content = mask(self.content), mask(self.held_content)
        self.draft = self.discarded_content = ""


class DocumentRevision(models.Model):
    """One version of a document as it came into force; numbers grow by one and are never used twice.

    `replaced` is the version that was in force until then, 0 without one.
    """

    document = models.ForeignKey(
        Document,
        on_delete=models.CASCADE,
        related_name="revisions",
        db_index=False,
    )
    number = models.PositiveIntegerField()
    replaced = models.PositiveIntegerField()
    content = models.TextField(blank=True)
    origin = models.CharField(max_length=8)
    actor = models.CharField(max_length=80)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "documents_revisions"
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="one_document_version"),
            one_of("origin", Origin, "document_origin_known"),
        ]
