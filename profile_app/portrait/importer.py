"""`import --from minara`: the sources' table `user_tags` goes into `user_tags_v1`. Sources: S3, decisions (small ones).

Nothing counts before `migrate-user-tags-v2` has read it.
"""

from collections.abc import Iterator
from datetime import datetime

from django.utils.translation import gettext as _

from memory_app.importers.core.entries import Record, TableRow
from memory_app.importers.core.fields import Expected, UnusableError, read_field, read_object, read_time
from minara_site.access.models import User
from profile_app.portrait.models import UserTagV1

MAX_NAME_CHARS, MAX_VALUE_CHARS = 40, 1_000


class UserTagsTable:
    """One tag a dimension; a newer one takes the place of what an earlier import brought."""

    name = "user_tags"
    columns = ("name", "value", "source", "updated_at")
    needed = frozenset({"name", "value"})

    def read(self, record: Record) -> Iterator[TableRow]:
        """Give the entry of a row. Raises UnusableError."""
        row = read_object(record.value)
        name, value = read_field(row, "name", str, None), read_field(row, "value", str, None)
        if not name or len(name) > MAX_NAME_CHARS:
            raise UnusableError(Expected.TEXT, "name")
        if not value or len(value) > MAX_VALUE_CHARS:
            raise UnusableError(Expected.TEXT, "value")
        source = read_field(row, "source", str, "")
        yield TableRow(
            record.line,
            self.name,
            name,
            value,
            source[:20],
            read_time(row, "updated_at"),
            record.id,
        )

    def find_duplicate(self, row: TableRow, *, owner: User) -> str:
        """Return why a row is not new: the same is there, or something newer."""
        known = UserTagV1.objects.for_owner(owner).filter(name=row.key).first()
        if known is None:
            return ""
        if (known.value, known.source) == (row.value, row.source):
            return _("imported already")
        is_newer = row.changed_at is not None and row.changed_at > known.updated_at
        return "" if is_newer else _("a newer tag of this dimension was imported")

    def store(self, row: TableRow, *, owner: User, now: datetime) -> None:
        """Store a row, to be migrated."""
        said = {"value": row.value, "source": row.source, "migrated_at": None}
        moment = min(row.changed_at or now, now)
        UserTagV1.objects.update_or_create(
            owner=owner,
            name=row.key,
            defaults={**said, "updated_at": moment},
        )
