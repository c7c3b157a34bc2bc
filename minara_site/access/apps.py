"""Access as a Django app."""

from importlib import import_module

from django.apps import AppConfig


class AccessConfig(AppConfig):
    """Holds the user model."""

    name = "minara_site.access"
    label = "access"

    def ready(self) -> None:
        import_module("minara_site.access.startup").start()
