"""Tables with a search document and edges for each row: both are written with the row, in the same transaction."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db import models, router, transaction

from memory_app.edges.core import SourceTable
from memory_app.edges.index import insert_edges, write_edges
from memory_app.index.core.document import Kind
from memory_app.index.documents import index_rows, reindex_rows
from minara_site.kernel.db import insert_row, slices
from minara_site.kernel.guard.models import GuardedRow
from minara_site.kernel.ownership import OwnedQuerySet, OwnedRow


class SearchedQuerySet(OwnedQuerySet):
    """Rows whose search document and edges are kept in step here."""

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Insert many rows, or with `update_conflicts` change them, with what is derived from them."""
        link = write_edges if kwargs.get("update_conflicts") else insert_edges
        with transaction.atomic(using=self.db):
            rows = super().bulk_create(objs, *args, **kwargs)
            index_rows(rows, using=self.db)
            link(rows, using=self.db)
        return rows

    def update(self, **fields: Any) -> int:
        """Change many rows, and where that touches what it was derived from, what is derived from them."""
        is_indexed, is_linked = not self.model.indexed.isdisjoint(fields), not self.model.linked.isdisjoint(fields)
        if not (is_indexed or is_linked):
            return super().update(**fields)
        changed = 0
        with transaction.atomic(using=self.db):
            ids = list(self.order_by().values_list("pk", flat=True))
            for chosen in slices(ids):
                rows = self.model.objects.using(self.db).filter(pk__in=chosen)
                changed += models.QuerySet.update(self.filter(pk__in=chosen), **fields)
                if is_indexed:
                    reindex_rows(self.model.document_kind, chosen, using=self.db)
                if is_linked:
                    write_edges(rows, using=self.db)
        return changed

    update.alters_data = True  # type: ignore[attr-defined]


class SearchedRow(GuardedRow, OwnedRow):
    """A row of such a table: the document says its `indexed` fields, the edges its `linked` ones."""

    document_kind: ClassVar[Kind]
    src_table: ClassVar[SourceTable]
    indexed: ClassVar[frozenset[str]]
    linked: ClassVar[frozenset[str]]

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the row and what is derived from it; whether its vector is right, the next embedding finds out."""
        using = kwargs.get("using") or router.db_for_write(type(self), instance=self)
        row: Any = self
        fields, link = kwargs.get("update_fields"), insert_edges if self._state.adding else write_edges
        with transaction.atomic(using=using, savepoint=False):
            if kwargs.get("force_insert") and self.pk is None:
                insert_row(self, using=using)
            else:
                super().save(*args, **kwargs)
            if fields is None or not self.indexed.isdisjoint(fields):
                index_rows([row], using=using)
            if fields is None or not self.linked.isdisjoint(fields):
                link([row], using=using)
