"""The kernel as a Django app."""

from importlib import import_module

from django.apps import AppConfig


class KernelConfig(AppConfig):
    """Loads the system checks."""

    name = "minara_site.kernel"
    label = "kernel"

    def ready(self) -> None:
        """Register the checks: importing them does."""
        import_module("minara_site.kernel.checks")
