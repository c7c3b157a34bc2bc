"""Access as a Django app."""

from importlib import import_module

from django.apps import AppConfig


class AccessConfig(AppConfig):
    """Holds the user model."""

    name = "minara_site.access"
    label = "access"

    def ready(self) -> None:
        """Start what needs every app's tables; they are there from here on."""
        import_module("minara_site.access.startup").start()
