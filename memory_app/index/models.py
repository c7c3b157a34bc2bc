"""The physical table under the full-text index. Written through `index`, never by hand."""

from django.db import models

from memory_app.index.adapters.postgresql import vector
from memory_app.index.core.document import Kind
from minara_site.kernel.fields import one_of
from minara_site.kernel.ownership import OwnedRow


class SearchDocument(OwnedRow):
    """One searchable text. `owner_token` repeats the owner as a word, so that the index itself narrows to one owner.

    The full-text index lies over the columns `owner`, `body` and `category`; `schema` makes it and its triggers.
    """

    kind = models.CharField(max_length=16)
    object_id = models.BigIntegerField()
    owner_token = models.CharField(max_length=24, db_column="owner")
    body = models.TextField()
    category = models.CharField(max_length=32)

    derived_column = ("words", ("owner", "body", "category"), vector)  # of PostgreSQL, for a move to it

    class Meta:
        db_table = "search_document"
        constraints = [
            models.UniqueConstraint(fields=["kind", "object_id"], name="one_search_document"),
            one_of("kind", Kind, "search_document_kind_known"),
        ]
        indexes = [models.Index(fields=["owner", "kind"], name="search_document_owner")]
