"""Access as a Django app."""

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in


class AccessConfig(AppConfig):
    """Holds the user model."""

    name = "minara_site.access"
    label = "access"

    def ready(self) -> None:
        """Note each sign-in as a visit."""
        from minara_site.access.visits import note_visit

        user_logged_in.connect(note_visit, dispatch_uid="access.note_visit")
