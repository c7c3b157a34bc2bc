"""Django's admin without its own table of changes: nothing is changed there, so that the table is never made."""

from django.contrib.admin.apps import SimpleAdminConfig
from django.db.models import DO_NOTHING


class TablesConfig(SimpleAdminConfig):
    """The admin that reads only."""

    def ready(self) -> None:
        """Let whoever deletes people, such as those of the demo, look for none of their changes in that table."""
        super().ready()
        from django.contrib.admin.models import LogEntry

        for field in (LogEntry.user.field, LogEntry.content_type.field):
            field.remote_field.on_delete = DO_NOTHING
